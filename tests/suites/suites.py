"""suites - the table: which programs' own tests run under fathom, and how.

A suite is built once and consists of units; each unit is one command (a test file of the suite),
run bare and under `fathom record`, and read test by test.
"""

import dataclasses
import functools
import os
import pathlib
import shutil
import subprocess
from typing import Callable

import pythons
import results
import rubies
import sources
from sources import Sources, Unavailable
from traced import TRACED_CPYTHON_UNITS


@dataclasses.dataclass(frozen=True)
class Suite:
    name: str
    what: str
    # Returns what the other two get, or raises Unavailable.
    prepare: Callable
    units: Callable      # (prepared) -> [unit]
    command: Callable    # (prepared, unit, scratch) -> ([argument], folder or None)
    read: Callable       # (Finished) -> {test: outcome}
    quick: tuple = ()    # units that CI has time for
    traced_units: Callable = None  # the same for `fathom trace`; None: it traces no such program
    traced_quick: tuple = ()
    environment: Callable = lambda prepared, scratch: {}
    unit_seconds: int = 600
    # (fathom, copy): makes a fathom for an interpreter of later suites, which has a C library of its own.
    copy_fathom: Callable = None


# --- CPython -------------------------------------------------------------------------------

CPYTHON_UNITS = ("test_signal", "test_faulthandler", "test_posix", "test_os", "test_subprocess",
                 "test_threading", "test_multiprocessing_fork", "test_multiprocessing_forkserver",
                 "test_asyncio", "test_threadsignals", "test_fork1", "test_wait4", "test_select",
                 "test_selectors", "test_socket", "test_io", "test_eintr", "test_popen", "test_pty",
                 "test_concurrent_futures", "test_mmap", "test_time", "test_resource",
                 "test_ctypes", "test_json", "test_sqlite3",
                 # What a profiler that reads frames may meet halfway.
                 "test_generators", "test_coroutines", "test_exceptions", "test_gc", "test_frame", "test_code",
                 "test_sys_settrace", "test_weakref", "test_threading_local", "test__xxsubinterpreters",
                 "test_interpreters", "test_sys", "test_traceback")


# As long as the runner waits for a unit, nearly: a machine may be busy.
PYTHON_UNIT_SECONDS = 560


def python_with_tests(program):
    """The interpreter, if it has the suite's runner beside it."""
    found = shutil.which(program)
    if found is None:
        raise Unavailable(f"{program} is not installed")
    done = subprocess.run([found, "-c", "import test.regrtest, test.test_signal"], capture_output=True)
    if done.returncode != 0:
        raise Unavailable(f"{program} has no test package (Debian 12: libpython3.11-testsuite)")
    return found


def units_there(program, units):
    """Those that this version has."""
    asked = ("import os, sys, test;"
             "there = [name.partition('.')[0] for name in os.listdir(os.path.dirname(test.__file__))];"
             "print(' '.join(unit for unit in sys.argv[1:] if unit in there))")
    done = subprocess.run([program, "-c", asked, *units], capture_output=True, text=True, check=True)
    return done.stdout.split()


def python_units(program):
    return units_there(program, CPYTHON_UNITS)


def traced_python_units(program):
    return units_there(program, TRACED_CPYTHON_UNITS)


def python_command(program, unit, scratch):
    return [program, "-m", "test", "-v", "--timeout", str(PYTHON_UNIT_SECONDS), "--tempdir", str(scratch),
            "--junit-xml", str(scratch / "junit.xml"), *unit.split()], None


def old_python_command(program, unit, scratch):
    """Before 3.8."""
    return [program, "-m", "test.regrtest", "-v", *unit.split()], scratch


def cpython(name, what, program, quick=(), command=python_command, read=results.junit, **more):
    return Suite(name, what, functools.partial(python_with_tests, program), python_units, command, read, quick,
                 **{"traced_units": traced_python_units, **more})


def pyenv(version):
    root = pathlib.Path(os.environ.get("PYENV_ROOT") or pathlib.Path.home() / ".pyenv")
    return str(root / "versions" / version / "bin" / "python")


def pyenv_suite(version, **more):
    minor = version.rpartition(".")[0]
    return cpython(f"cpython-{minor}", f"CPython {minor} from pyenv", pyenv(version), **more)


def fetched_suite(minor):
    program = str(pythons.ROOT / "usr" / "bin" / f"python{minor}")
    return cpython(f"cpython-{minor}", f"CPython {minor} of Debian's later suites", program,
                   copy_fathom=pythons.copy_fathom)


# --- from Debian's sources -----------------------------------------------------------------

def debian_source(name, package, *commands, needs=()):
    def prepare():
        for program in ("gcc", "make", *needs):
            if shutil.which(program) is None:
                raise Unavailable(f"{program} is needed to build and test {package}")
        return sources.built(name, package, commands)
    return prepare


def files(tree, pattern, folder="."):
    """Paths below folder that match, in a steady order."""
    below = tree.pristine / folder
    return sorted(str(path.relative_to(below)) for path in below.glob(pattern))


def bash_units(tree):
    aside = {"run-all", "run-minimal", "run-gprof"}
    return [unit for unit in files(tree, "tests/run-*") if pathlib.Path(unit).name not in aside]


def bash_command(tree, unit, scratch):
    return ["sh", f"./{pathlib.Path(unit).name}"], tree.path / "tests"


def bash_environment(tree, scratch):
    """What `make tests` and run-all say."""
    return {"THIS_SH": str(tree.path / "bash"), "BUILD_DIR": str(tree.path),
            "BASH_TSTOUT": str(scratch / "output"), "PATH": f"{tree.path}/tests:{os.environ['PATH']}"}


# Not integration/psync2: it plays with layouts by chance, and names its tests by them.
REDIS_UNITS = ("unit/auth", "unit/protocol", "unit/keyspace", "unit/scan", "unit/info",
               "unit/other", "unit/multi", "unit/expire", "unit/quit", "unit/aofrw", "unit/acl", "unit/dump",
               "unit/latency-monitor", "unit/introspection", "unit/introspection-2", "unit/scripting",
               "unit/functions", "unit/maxmemory", "unit/lazyfree", "unit/pubsub", "unit/shutdown",
               "unit/oom-score-adj", "unit/type/string", "unit/type/list", "unit/type/hash", "unit/type/zset",
               "unit/type/stream", "unit/slowlog", "unit/bitops", "unit/hyperloglog", "integration/aof",
               "integration/rdb", "integration/logging", "integration/shutdown", "integration/redis-cli",
               "integration/redis-benchmark", "integration/block-repl", "integration/replication",
               "integration/failover")


def redis_command(tree, unit, scratch):
    return ["./runtest", "--single", unit, "--clients", "1"], tree.path


# Not crash: how often it crashes is left to chance.
SQLITE_UNITS = ("alter", "attach", "autovacuum", "backup", "btree01", "busy", "capi3", "cast", "check",
                "collate1", "corrupt", "delete", "expr", "fkey1", "func", "in", "index",
                "insert", "io", "join", "json101", "like", "lock", "malloc", "memdb", "mmap1", "multiplex",
                "mutex1", "notnull", "pager1", "pragma", "rollback", "savepoint", "select1", "select4",
                "shell1", "shell5", "sort", "subquery", "temptable", "thread001", "thread002", "thread003",
                "thread1", "trans", "trigger1", "update", "vacuum", "view", "vtab1", "wal", "wal2", "walthread",
                "where", "window1", "with1", "without_rowid1", "zeroblob")


def sqlite_units(tree):
    return [unit for unit in SQLITE_UNITS if (tree.pristine / "test" / f"{unit}.test").exists()]


def sqlite_command(tree, unit, scratch):
    return ["./testfixture", f"test/{unit}.test", "--verbose=1"], tree.path


ZLIB_UNITS = {"test": ["make", "-s", "test"], "infcover": ["./infcover"]}


def zlib_command(tree, unit, scratch):
    return ZLIB_UNITS[unit], tree.path


COREUTILS_UNITS = tuple(f"tests/{group}" for group in (
    "chgrp", "chmod", "chown", "cp", "dd", "df", "du", "fmt", "id", "install", "ln", "ls", "misc", "mkdir",
    "mv", "pr", "readlink", "rm", "rmdir", "split", "tail-2", "touch"))


def coreutils_command(tree, unit, scratch):
    tests = " ".join(path for suffix in ("sh", "pl") for path in files(tree, f"{unit}/*.{suffix}"))
    return ["make", "-s", "check-TESTS", "SUBDIRS=.", f"TESTS={tests}"], tree.path


# --- Ruby ----------------------------------------------------------------------------------

# What a profiler that reads frames, objects and code may meet halfway, and what it may disturb.
RUBY_UNITS = ("array", "string", "hash", "proc", "lambda", "method", "iterator", "enumerator", "fiber", "gc",
              "gc_compact", "objectspace", "process", "thread", "thread_queue", "signal", "io", "exception", "backtrace",
              "settracefunc", "eval", "refinement", "symbol", "beginendblock", "continuation", "defined", "alias", "class",
              "module", "object", "range", "integer", "float", "bignum", "struct", "time", "sleep", "rand", "require",
              "rubyoptions", "super", "syntax", "autoload", "keyword", "optimization", "yjit", "weakmap", "marshal",
              "dir", "file", "sprintf", "m17n", "regexp", "rescue", "parse", "iseq")


def ruby_with_tests(minor, program):
    """The source with the tests, for an interpreter that is there."""
    found = shutil.which(program)
    if found is None:
        raise Unavailable(f"{program} is not installed")
    return sources.built(f"ruby-{minor}", f"ruby{minor}", ())


def fetched_ruby_with_tests(ruby):
    if not ruby.is_there:
        raise Unavailable(ruby.why_not)
    minor = ".".join(map(str, ruby.version))
    tree = rubies.sources_of(minor)
    if not tree.exists():
        raise Unavailable(f"the source of Ruby {minor} is not there: tests/live/rubies.py --sources")
    return Sources(tree, tree)


def ruby_units(tree):
    return [unit for unit in RUBY_UNITS if (tree.pristine / "test" / "ruby" / f"test_{unit}.rb").exists()]


def ruby_command(program, tree, unit, scratch):
    return [program, f"{tree.path}/test/runner.rb", "-v", "--test-order=sorted", "--timeout-scale=4",
            f"{tree.path}/test/ruby/test_{unit}.rb"], None


def ruby_suite(minor, program, prepare, **more):
    return Suite(f"ruby-{minor}", f"CRuby's test/ruby by ruby{minor}", prepare, ruby_units,
                 functools.partial(ruby_command, program), results.ruby, **more)


def debian_ruby_suite(minor, **more):
    program = f"/usr/bin/ruby{minor}"
    return ruby_suite(minor, program, functools.partial(ruby_with_tests, minor, program), **more)


def fetched_ruby_suite(minor):
    ruby = rubies.fetched_ruby(minor)
    copy = functools.partial(rubies.copy_fathom, ruby) if rubies.has_own_c_library(ruby) else None
    return ruby_suite(minor, ruby.path, functools.partial(fetched_ruby_with_tests, ruby), copy_fathom=copy)


SUITES = (
    cpython("cpython", "Debian's python3", "/usr/bin/python3",
            # The one left out waits for half a minute.
            quick=("test_posix", "test_signal --ignore test_siginterrupt_off", "test_generators"),
            traced_quick=("test_sys_settrace", "test_generators", "test_coroutines", "test_yield_from", "test_cprofile",
                          "test_threading_local", "test_audit")),
    fetched_suite("3.15"),
    fetched_suite("3.14"),
    pyenv_suite("3.13.0"),
    pyenv_suite("3.12.1"),
    pyenv_suite("3.10.13"),
    pyenv_suite("3.8.18"),
    pyenv_suite("3.6.15", command=old_python_command, read=results.unittest),
    pyenv_suite("2.7.18", command=old_python_command, read=results.unittest, traced_units=None),
    debian_ruby_suite("3.1", quick=("gc_compact", "iterator", "signal", "backtrace")),
    fetched_ruby_suite("3.4"),
    fetched_ruby_suite("3.3"),
    fetched_ruby_suite("3.2"),
    fetched_ruby_suite("3.0"),
    fetched_ruby_suite("2.7"),
    Suite("bash", "bash's tests/run-*",
          debian_source("bash", "bash", "./configure -q", "make -s -j2",
                        "make -s -j2 recho zecho printenv xcase",
                        "cp recho zecho printenv xcase tests/"),
          bash_units, bash_command, results.output, environment=bash_environment),
    Suite("coreutils", "coreutils' make check",
          debian_source("coreutils", "coreutils", "./configure -q", "make -s -j2", needs=("perl",)),
          lambda tree: COREUTILS_UNITS, coreutils_command, results.automake, unit_seconds=1800),
    Suite("redis", "redis' runtest",
          debian_source("redis", "redis", "make -s -j2 MALLOC=libc OPTIMIZATION=-O2", needs=("tclsh",)),
          lambda tree: REDIS_UNITS, redis_command, results.redis),
    Suite("sqlite", "SQLite's testfixture",
          debian_source("sqlite", "sqlite3", "./configure -q", "make -s -j2 testfixture sqlite3",
                        needs=("tclsh",)),
          sqlite_units, sqlite_command, results.sqlite),
    Suite("zlib", "zlib's make test and infcover",
          debian_source("zlib", "zlib", "./configure", "make -s -j2 all all64 infcover"),
          lambda tree: tuple(ZLIB_UNITS), zlib_command, results.output),
)
