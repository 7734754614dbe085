// All of Krill: whole solves, solvers and preconditioners to put together, matrices and files. A program that compiles
// slowly includes what it needs instead; each header stands by itself.
#pragma once
#include "solvers/bicgstab.hpp"
#include "solvers/gmres.hpp"
#include "solvers/method/type_name.hpp"
#include "solvers/pcg.hpp"
#include "solvers/precond/preconditioner.hpp"
#include "solvers/richardson.hpp"
#include "solvers/system/solve.hpp"
#include "sparse/convert/convert.hpp"
#include "sparse/convert/to_format.hpp"
#include "sparse/factor/incomplete.hpp"
#include "sparse/io/generate.hpp"
#include "sparse/io/read.hpp"
#include "sparse/spmv/plan.hpp"
#include "sparse/triangular/triangular.hpp"
#include "sparse/vector/vector.hpp"
