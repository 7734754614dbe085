#include "apps/commands/command_options.hpp"

#include <cmath>
#include <memory>

#include "apps/bench/bench.hpp"
#include "apps/commands/commands.hpp"
#include "apps/commands/completion.hpp"
#include "apps/commands/solve.hpp"
#include "apps/evaluate/evaluate.hpp"
#include "apps/inspect/inspect.hpp"
#include "apps/suite/suite.hpp"
#include "apps/support/print.hpp"
#include "sparse/core/config.hpp"

namespace krill::apps {
namespace {

/// A command whose options fill a struct that its action takes.
template <class Command>
std::pair<CLI::App*, std::shared_ptr<Command>> add_command(CLI::App& program, Action& action, const char* name,
                                                           const char* description, int (*run)(const Command&)) {
  auto command = std::make_shared<Command>();
  CLI::App* app = program.add_subcommand(name, description);
  app->callback([&action, command, run] { action = [command, run] { return run(*command); }; });
  return {app, command};
}

/// Ranges let nan pass, as no comparison holds for it.
const CLI::Validator finite_number(
    [](const std::string& text) -> std::string {
      double value = 0;
      return CLI::detail::lexical_cast(text, value) && std::isfinite(value) ? "" : text + " is not a finite number";
    },
    "");

void add_backend(CLI::App& app, std::string& backend, const char* meaning) {
  app.add_option("--backend", backend, meaning)
      ->type_name("auto|host|cuda")
      ->check(CLI::IsMember({"auto", "host", "cuda"}).description(""));
}

/// What changes a case, or a sweep, before it is checked.
template <class Input>
void add_changes(CLI::App& app, Input& input) {
  app.add_option("--set", input.overrides, "Change one value of the file; may be given again")
      ->type_name("PATH=VALUE")
      ->expected(1)
      ->take_all();
  app.add_flag("--env", input.environment, "Fill in environment variables: ${NAME} in values of the file");
  add_backend(app, input.backend, "Where to run, in place of what the file says");
  app.add_option("--threads", input.threads, "Host threads, in place of what the file says")
      ->type_name("N")
      ->check(CLI::Range(1, 4096).description(""));
}
template <class Input>
void add_variant(CLI::App& app, Input& input) {
  app.add_option("--variant", input.variant, "Take this one of the variants that the case has")->type_name("NAME");
}

void add_solve(CLI::App& program, Action& action) {
  auto [app, command] =
      add_command<SolveCommand>(program, action, "solve", "Solve the linear system of a case", run_solve);
  app->add_option("CASE", command->case_path,
                  "YAML case (docs/cases.md, krill explain KEY), - for one from the standard input, or a matrix file, "
                  "solved as krill inspect suggests")
      ->required()
      ->type_name("");
  add_changes(*app, *command);
  add_variant(*app, *command);
  app->add_option("--out", command->out, "Folder for the results; default: out/<case name>")->type_name("DIR");
  app->add_flag("--quiet", command->quiet, "Print nothing but errors");
  app->add_flag("--verbose", command->verbose, "Say also how it was solved: formats, products, set-up");
  app->add_flag("--json", command->json, "Print the report as JSON to the standard output");
  app->add_flag("--fresh", command->fresh, "Solve again the steps of a sequence that were finished before");
  app->add_flag("--plan", command->plan, "Say how much memory the case would take, and do not solve it");
  app->add_option("--ranks", command->ranks,
                  "With --plan: for N processes that solve together, without them, and how long an iteration takes")
      ->type_name("N");
  app->add_option("--machine", command->machine,
                  "With --ranks: predict that for the machine of this file; default: H200 GPUs, or a host")
      ->type_name("FILE");
  app->footer(
      "Writes report.json, residuals.csv, solution.mtx and convergence.svg; of a sequence report.json, steps.csv, "
      "steps.svg and solutions. Interrupted or killed, the same command goes on with the steps that are left "
      "(steps.jsonl).\n\n"
      "Examples:\n"
      "  krill solve configs/quickstart.yaml\n"
      "  krill solve thermal.mtx.gz\n"
      "  krill solve case.yaml --backend host --out results/first\n"
      "  krill solve case.yaml --set solver.stop.relative=1e-10 --set solver=gmres\n"
      "  krill solve case.yaml --set matrix.file=thermal.mtx.gz --json | jq .iterations\n"
      "  krill solve case.yaml --plan --backend cuda\n"
      "  krill solve case.yaml --plan --ranks 8\n"
      "  krill solve case.yaml --plan --ranks 64 --machine cluster.yaml\n\n"
      "Exit codes: 0 converged (and verified, where asked); 1 not; 2 bad case or input; 3 no device, memory or disk.");
}

void add_verify(CLI::App& program, Action& action) {
  auto [app, command] = add_command<VerifyCommand>(
      program, action, "verify", "Compare every kernel that a case uses, or all, with references", run_verify);
  app->add_option("CASE", command->case_path, "A case, as for krill solve")->type_name("");
  app->add_flag("--all", command->all, "Every kernel of the library on a gallery of matrices, in place of a case");
  add_changes(*app, *command);
  add_variant(*app, *command);
  app->add_option("--out", command->out, "Folder for the results; default: out/verify-<case name>")->type_name("DIR");
  app->add_flag("--quiet", command->quiet, "Print nothing but failures");
  app->add_flag("--json", command->json, "Print verification.json to the standard output");
  app->footer(
      "Runs each kernel on the case's own matrix, on random vectors and on b, and compares entry by entry with a "
      "sequential reference in extended precision, within bounds that follow from rounding; docs/verifying.md says "
      "which. Writes verification.json, and residuals.svg with the residuals beside those of a textbook's loop.\n\n"
      "Examples:\n"
      "  krill verify configs/quickstart.yaml\n"
      "  krill verify case.yaml --backend cuda --set precision=float32\n"
      "  krill verify --all\n"
      "  mpirun -n 2 krill verify case.yaml\n\n"
      "Exit codes: 0 nothing has failed; 1 something has; 2 bad case or input; 3 no device or memory.");
}

void add_evaluate(CLI::App& program, Action& action) {
  using namespace evaluate;
  auto [app, command] = add_command<EvaluateCommand>(
      program, action, "evaluate", "Find by measurement how to solve a system: many variants, a ranking", run_evaluate);
  app->add_option("FILE", command->input.path, "A sweep or a case (YAML), or a matrix file")->required()->type_name("");
  app->add_option("--portfolio", command->input.portfolio,
                  "Variants that suit the matrix; default: standard, or as "
                  "the sweep says")
      ->type_name("quick|standard|thorough|none")
      ->check(CLI::IsMember({"none", "quick", "standard", "thorough"}).description(""));
  app->add_option("--budget", command->input.budget, "Seconds for all of it; what has not begun by then is not run")
      ->type_name("SECONDS")
      ->check(CLI::NonNegativeNumber.description(""))
      ->check(finite_number);
  add_changes(*app, command->input);
  app->add_option("--out", command->out, "Folder for the results; default: out/<name>")->type_name("DIR");
  app->add_flag("--fresh", command->fresh, "Measure again what was finished before");
  app->add_flag("--quiet", command->quiet, "Print nothing but errors");
  app->add_flag("--json", command->json, "Print evaluation.json to the standard output");
  app->footer(
      "Writes evaluation.html, evaluation.json, evaluation.csv and best.yaml. Variants run in processes beside "
      "this one: what crashes, hangs or takes all memory is a row in the list of failures. Interrupted or killed, the "
      "same command goes on where it stopped (evaluation.jsonl).\n\n"
      "Examples:\n"
      "  krill evaluate thermal.mtx.gz\n"
      "  krill evaluate case.yaml --portfolio thorough --budget 600\n"
      "  krill evaluate configs/sweep.yaml\n\n"
      "Exit codes: 0 at least one variant converged; 1 none did, or interrupted; 2 bad input; 3 no memory or disk.");

  auto [worker, worker_command] =
      add_command<WorkerCommand>(program, action, "evaluate-worker", "Runs variants of a sweep", run_worker_command);
  worker->add_option("PARENT", worker_command->parent, "The process that started it")->required();
  worker->group("");
}

void add_generate(CLI::App& program, Action& action) {
  auto [app, command] = add_command<GenerateCommand>(program, action, "generate",
                                                     "Write a model problem's matrix to a file", run_generate);
  app->add_option("NAME", command->name, "Generator: krill explain matrix lists them")->required()->type_name("");
  app->add_option("SETTINGS", command->settings, "Its options: krill explain NAME lists them")->type_name("KEY=VALUE");
  app->add_option("-o,--output", command->output, "Matrix Market file to write")->required()->type_name("FILE.mtx");
  app->add_option("--coordinates", command->coordinates, "Write where its nodes are (elasticity3d), a row for each")
      ->type_name("FILE.mtx");
  app->footer(
      "Symmetric and Hermitian matrices are written as one triangle. Of a batch\n"
      "(banded_batch), a name that ends with .tar, .tar.gz, .tar.xz or .tar.zst asks\n"
      "for an archive with a file for each system.\n\n"
      "Examples:\n"
      "  krill generate poisson3d nx=64 -o poisson.mtx\n"
      "  krill generate anisotropic2d nx=200 epsilon=0.01 angle=45 -o anisotropic.mtx\n"
      "  krill generate banded_batch rows=64 systems=1000 -o systems.tar.gz");
}

void add_convert(CLI::App& program, Action& action) {
  auto [app, command] =
      add_command<ConvertCommand>(program, action, "convert", "Write a matrix as a Matrix Market file", run_convert);
  app->add_option("IN", command->input, "Any file that is read: krill formats lists them")->required()->type_name("");
  app->add_option("OUT.mtx", command->output, "Matrix Market file to write")->required()->type_name("");
  auto* symmetric = app->add_flag("--symmetric", command->symmetric,
                                  "Write one triangle; the matrix has to be symmetric, skew-symmetric or Hermitian");
  app->add_flag("--general", command->general, "Write all entries, whatever the symmetry")->excludes(symmetric);
  auto* drop = app->add_option("--drop", command->drop, "Leave out entries a with |a| <= X; NaN stays")
                   ->type_name("X")
                   ->check(CLI::NonNegativeNumber.description(""));
  app->add_option("--drop-percent", command->drop_percent,
                  "Leave out P % of the entries, the smallest, and those as large as the largest of them")
      ->type_name("P")
      ->check(CLI::Range(0., 100.).description(""))
      ->excludes(drop);
  app->add_option("--rhs", command->rhs, "Write the right-hand side, too, that came with the matrix")
      ->type_name("FILE.mtx");
  app->footer(
      "Entries are written as they are stored; with --symmetric, --general, --drop or --drop-percent they are sorted, "
      "and duplicates summed.\n\n"
      "Examples:\n"
      "  krill convert bcsstk08.rsa bcsstk08.mtx\n"
      "  krill convert sherman4.tar.gz sherman4.mtx --rhs sherman4_b.mtx --general\n"
      "  krill convert dense.mtx sparse.mtx --drop 1e-12");
}

void add_inspect(CLI::App& program, Action& action) {
  auto [app, command] = add_command<InspectCommand>(
      program, action, "inspect", "Say what a matrix is like, what will hurt a solve, and which case suits it",
      run_inspect);
  app->add_option("MATRIX", command->matrix, "Any file that is read: krill formats lists them")
      ->required()
      ->type_name("");
  app->add_option("--out", command->out, "Folder for inspection.json, spy.svg, rows.svg and suggested.yaml")
      ->type_name("DIR");
  add_backend(*app, command->backend, "Where the suggested case would run; auto: on CUDA where it is");
  app->add_flag("--levels", command->levels, "Count the levels of triangular solves in large matrices, too");
  app->add_flag("--json", command->json, "Print JSON");
  app->footer(
      "Prints properties, the levels of triangular solves in three orders, findings by severity, and a complete case "
      "with the reason for each choice (docs/inspecting.md).\n\n"
      "Examples:\n"
      "  krill inspect thermal.mtx.gz\n"
      "  krill inspect thermal.mtx.gz --out thermal\n"
      "  krill solve thermal/suggested.yaml\n"
      "  krill inspect thermal.mtx.gz --json | jq .definiteness");
}

void add_bench(CLI::App& program, Action& action) {
  auto [app, command] = add_command<BenchCommand>(
      program, action, "bench", "Time kernels against the memory's ceiling and against a rival", run_bench);
  app->add_option(
         "KERNEL", command->kernels,
         "spmv, spmv_dot, spmm, sddmm, spgemm, spgeam, triple_product, prune, convert, csr2csc, triangular, factor, "
         "color, coarsen (default: these); vector, batch, banded, on operands of their own; pcg, gmres, bicgstab, or "
         "solvers for the three; scaling, by several processes of a launcher")
      ->type_name("");
  app->add_option("--matrix", command->matrices,
                  "A file, a generator with its options, or a matrix of a suite; may be given again")
      ->type_name("FILE|NAME KEY=VALUE");
  app->add_option("--suite", command->suite,
                  "Seven matrices, or a file with one in each line, as after --matrix; default: targets on CUDA, small "
                  "on the host")
      ->type_name("targets|small|FILE");
  app->add_option("--format", command->formats, "Storage forms to measure; default: all")->type_name("csr,coo,...");
  app->add_option("--preconditioner", command->preconditioners,
                  "What solvers are measured with, as their rows name it; default: all")
      ->type_name("none,jacobi,...");
  app->add_option("--shapes", command->shapes,
                  "Rows and systems that banded solves; sweep: powers of 16 of both, to 2^24 unknowns")
      ->type_name("ROWSxSYSTEMS,...|sweep");
  app->add_option("--precision", command->precisions, "float32, float64, complex64, complex128; default: as the matrix")
      ->type_name("NAME,...");
  add_backend(*app, command->backend, "Where to run");
  app->add_option("--threads", command->threads, "Host threads; default: as many as OpenMP gives")
      ->type_name("N")
      ->check(CLI::Range(1, 4096).description(""));
  app->add_option("--device", command->device, "CUDA device, counted from 0")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber.description(""));
  app->add_option("--compare", command->compare, "The rival: cusparse on CUDA, eigen on the host")
      ->type_name("cusparse|eigen|none")
      ->check(CLI::IsMember({"cusparse", "eigen", "none"}).description(""));
  app->add_option("--repeat-blocks", command->repeat_blocks,
                  "How often a file's matrix stands on the diagonal; auto: to 512 MB on CUDA, 64 MB on the host")
      ->type_name("auto|N");
  app->add_flag("--warm", command->warm, "Let data stay in the cache between calls");
  app->add_option("--out", command->out, "Write the result as JSON, too")->type_name("FILE");
  auto* diff = app->add_option("--diff", command->diff, "Say what became slower or faster; measures nothing")
                   ->type_name("BEFORE.json AFTER.json")
                   ->option_text("BEFORE.json AFTER.json Excludes: --markdown")
                   ->expected(2);
  app->add_option("--tolerance", command->tolerance,
                  "Relative change that --diff lets pass, as it does the rows' spread; default: 0.05")
      ->type_name("X")
      ->check(CLI::NonNegativeNumber.description(""))
      ->needs(diff);
  app->add_option("--fail-on", command->fail_on, "What --diff ends with exit code 1 for; default: regression")
      ->type_name("regression|none")
      ->check(CLI::IsMember({"regression", "none"}).description(""))
      ->needs(diff);
  app->add_option("--roofline", command->roofline,
                  "Draw operations a second over operations a byte, by gnuplot; with --markdown, of that result")
      ->type_name("FILE.svg")
      ->excludes(diff);
  app->add_option("--heat-map", command->heat_map,
                  "Draw ratios of banded over rows and systems, by gnuplot; with --markdown, of that result")
      ->type_name("FILE.svg")
      ->excludes(diff);
  app->add_option("--markdown", command->markdown, "Print a result as Markdown; measures nothing")
      ->type_name("FILE.json")
      ->excludes(diff);
  app->footer(
      "Prints, and writes with --out: the time of one call (median and spread of the rounds), bytes that have to move, "
      "GB/s, the share of the best bandwidth that this machine reached in the same run, the rival's best time, and "
      "ratio = rival / krill. Data come from memory, not from the cache, unless --warm says otherwise.\n\n"
      "Examples:\n"
      "  krill bench\n"
      "  krill bench spmv csr2csc --compare cusparse --out h200.json\n"
      "  krill bench spmv --backend host --compare eigen --threads 2\n"
      "  krill bench spmv --matrix thermal.mtx.gz --matrix poisson3d nx=200\n"
      "  krill bench spmv --matrix thermal.mtx.gz --format csr,coo\n"
      "  krill bench spmv --matrix p3d256 --precision float32,float64 --warm\n"
      "  krill bench solvers --matrix poisson3d nx=64 --backend host --compare eigen\n"
      "  krill bench spmv triangular --roofline roofline.svg\n"
      "  krill bench banded --shapes sweep --compare cusparse --heat-map ratios.svg\n"
      "  mpirun -n 2 krill bench scaling --matrix p3d128\n"
      "  krill bench --diff before.json after.json --tolerance 0.1\n"
      "  krill bench --markdown h200.json\n\n"
      "Exit codes: 0 measured; 1 no measurement succeeded, or --diff found something that is slower or fails; 2 bad "
      "usage or input; 3 no device or memory.");
}

/// What both commands of a suite take.
void add_suite_options(CLI::App& app, suite::SuiteCommand& command) {
  app.add_option("DIR", command.folder, "Folder with cases: every .yaml below it that names a matrix")
      ->required()
      ->type_name("");
  add_backend(app, command.backend, "Where to run, in place of what the cases say");
  app.add_option("--time-limit", command.time_limit, "For one case; default: 300")
      ->type_name("SECONDS")
      ->check(CLI::PositiveNumber.description(""))
      ->check(finite_number);
  app.add_flag("--quiet", command.quiet, "Print nothing but errors");
}

void add_suite(CLI::App& program, Action& action) {
  using namespace suite;
  CLI::App* group = program.add_subcommand("suite", "Solve all cases of a folder and compare with what is expected");
  group->require_subcommand(1);
  auto [run, run_command] =
      add_command<RunCommand>(*group, action, "run", "Solve the cases and compare them with a baseline", run_suite);
  add_suite_options(*run, *run_command);
  run->add_option("--baseline", run_command->baseline, "What is expected: a file of krill suite baseline")
      ->required()
      ->type_name("FILE.yaml");
  run->add_option("--junit", run_command->junit, "Write the results as JUnit XML, too")->type_name("FILE.xml");
  run->add_option("--markdown", run_command->markdown, "Write the results as a table, too")->type_name("FILE.md");
  run->footer(
      "Every case runs in a process of its own, so one that crashes or hangs fails alone. A case that the baseline "
      "does not "
      "have fails, as does one that only the baseline has.\n\n"
      "Example:\n"
      "  krill suite run configs --baseline configs/baseline.yaml --junit suite.xml\n\n"
      "Exit codes: 0 all as expected; 1 not, or interrupted; 2 bad usage, baseline or folder; 3 a case lacked its "
      "device or memory.");
  auto [baseline, baseline_command] = add_command<BaselineCommand>(
      *group, action, "baseline", "Solve the cases and write a baseline of what came of them", run_suite_baseline);
  add_suite_options(*baseline, *baseline_command);
  baseline->add_option("-o,--output", baseline_command->output, "The baseline to write")
      ->required()
      ->type_name("FILE.yaml");
  baseline->footer(
      "Read what it wrote before you trust it: a case that fails today is expected to fail from then on.\n\n"
      "Example:\n"
      "  krill suite baseline configs -o configs/baseline.yaml");
}

void add_descriptions(CLI::App& program, Action& action) {
  auto [schema, schema_command] =
      add_command<SchemaCommand>(program, action, "schema", "Print the JSON Schema of cases, for editors", run_schema);
  schema->add_flag("--sweep", schema_command->sweep, "Of the sweeps that krill evaluate reads, in place of cases");
  schema->add_flag("--markdown", schema_command->markdown, "Print the reference of all keys (docs/cases.md) instead");
  schema->footer(
      "With the Red Hat YAML extension of an editor:\n"
      "  krill schema > case.schema.json\n"
      "and, as the first line of a case:\n"
      "  # yaml-language-server: $schema=case.schema.json");

  auto [explain, explain_command] = add_command<ExplainCommand>(
      program, action, "explain", "Say what a key, section or type of a case means", run_explain);
  explain->add_option("KEY", explain_command->key, "As in relative, solver.stop or gmres")->required()->type_name("");
  explain->footer(
      "Examples:\n"
      "  krill explain solver.stop.relative\n"
      "  krill explain gmres");

  program.add_subcommand("formats", "List matrix formats and file formats")->callback([&action] {
    action = run_formats;
  });
  program.add_subcommand("solvers", "List the solvers")->callback([&action] { action = run_solvers; });
  program.add_subcommand("preconditioners", "List the preconditioners")->callback([&action] {
    action = run_preconditioners;
  });
  auto [version, version_command] = add_command<VersionCommand>(
      program, action, "version", "Print what this build is made of and the devices it finds", run_version);
  version->add_flag("--json", version_command->json, "Print JSON");
}

/// What is made of the description of all commands: completion scripts, and the manual page.
void add_texts(CLI::App& program, Action& action) {
  auto shell = std::make_shared<std::string>();
  CLI::App* completion = program.add_subcommand("completion", "Print the script with which a shell completes krill");
  completion->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->type_name("")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}).description(""));
  completion->callback([&program, &action, shell] {
    action = [&program, shell] {
      print(completion_script(program, *shell));
      return 0;
    };
  });
  completion->footer(
      "An installed Krill brings these scripts along. Without one:\n"
      "  source <(krill completion bash)    in ~/.bashrc\n"
      "  source <(krill completion zsh)     in ~/.zshrc, after compinit\n"
      "  krill completion fish > ~/.config/fish/completions/krill.fish");
  CLI::App* manual = program.add_subcommand("man", "Print the manual page");
  manual->group("");
  manual->callback([&program, &action] {
    action = [&program] {
      print(manual_page(program, std::string(version)));
      return 0;
    };
  });
}

}  // namespace

void add_commands(CLI::App& program, Action& action) {
  add_solve(program, action);
  add_verify(program, action);
  add_evaluate(program, action);
  add_generate(program, action);
  add_convert(program, action);
  add_inspect(program, action);
  add_bench(program, action);
  add_suite(program, action);
  add_descriptions(program, action);
  add_texts(program, action);
}

}  // namespace krill::apps
