"""What the scripts share that measure Krill beside other packages on the host."""
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def petsc(*flags):
    """PETSc of Debian's python3-petsc4py, with real numbers, and these words on its command line."""
    where = os.environ.get("PETSC_DIR", "/usr/lib/petscdir/petsc3.18/x86_64-linux-gnu-real")
    sys.path.append(f"{where}/lib/python3/dist-packages")
    import petsc4py
    petsc4py.init([sys.argv[0], *flags])
    from petsc4py import PETSc
    return PETSc


def read_csr(path):
    """The whole matrix of a Matrix Market file, as row offsets, columns and values."""
    import numpy
    with open(path, "rb") as file:
        symmetric = b"symmetric" in file.readline()
        line = file.readline()
        while line.startswith(b"%"):
            line = file.readline()
        rows = int(line.split()[0])
        numbers = numpy.fromstring(file.read(), dtype=float, sep=" ").reshape(-1, 3)
    i, j, value = numbers[:, 0].astype(int) - 1, numbers[:, 1].astype(int) - 1, numbers[:, 2]
    if symmetric:
        beside = i != j
        i, j, value = (numpy.concatenate(pair) for pair in ((i, j[beside]), (j, i[beside]), (value, value[beside])))
    order = numpy.lexsort((j, i))
    offsets = numpy.concatenate(([0], numpy.cumsum(numpy.bincount(i, minlength=rows))))
    return offsets.astype("int32"), j[order].astype("int32"), value[order]


def generated_csr(krill, folder, generator, settings):
    """As read_csr, of a generator of Krill; the file is left as A.mtx in the folder."""
    subprocess.run([krill, "generate", generator, *settings.split(), "-o", f"{folder}/A.mtx"], check=True,
                   stdout=subprocess.DEVNULL)
    return read_csr(f"{folder}/A.mtx")


def machine():
    with open("/proc/cpuinfo") as file:
        model = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), "unknown")
    return f"{model}, {os.cpu_count()} cores; load {os.getloadavg()[0]:.1f} at the end."


def table(lines):
    """Rows of texts as Markdown."""
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)
