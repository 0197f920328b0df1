"""traced - CPython's own tests under `fathom trace`: which units, and which tests show it by their nature.

Calls are counted by hooks of the interpreter.  A program that asks the interpreter for those very hooks can see
ours; what it can see, and that it sees no more, is what the table below says.
"""

import re

# What calls, is called and ends in all ways; what hooks, frames and code meet; what threads and processes do.
TRACED_CPYTHON_UNITS = (
    "test_call", "test_extcall", "test_keywordonlyarg", "test_positional_only_arg", "test_functools", "test_builtin",
    "test_descr", "test_descrtut", "test_class", "test_super", "test_property", "test_decorators", "test_generators",
    "test_generator_stop", "test_genexps", "test_pep479", "test_yield_from", "test_coroutines", "test_asyncgen",
    "test_contextlib", "test_contextlib_async", "test_with", "test_raise", "test_exceptions", "test_except_star",
    "test_exception_variations", "test_listcomps", "test_setcomps", "test_dictcomps", "test_scope", "test_types",
    "test_typing", "test_dataclasses", "test_enum", "test_abc", "test_collections", "test_itertools", "test_operator",
    "test_weakref", "test_gc", "test_finalization", "test_frame", "test_code", "test_compile", "test_dis", "test_opcodes",
    "test_opcache", "test_patma", "test_ast", "test_inspect", "test_traceback", "test_syntax", "test_json", "test_re",
    "test_pickle", "test_copy", "test_sort", "test_heapq", "test_bisect", "test_random", "test_decimal", "test_fractions",
    "test_datetime", "test_csv", "test_difflib", "test_textwrap", "test_string", "test_tokenize", "test_io",
    "test_threading", "test_threading_local", "test_thread", "test_queue", "test_sched", "test_concurrent_futures",
    "test_asyncio", "test_multiprocessing_fork", "test_multiprocessing_spawn", "test_subprocess", "test_fork1", "test_os",
    "test_signal", "test_threadsignals", "test_faulthandler", "test_atexit", "test_import", "test_importlib", "test_runpy",
    "test_zipimport", "test_compileall", "test_py_compile", "test_capi", "test_ctypes", "test_sqlite3", "test_sys",
    "test_audit", "test__xxsubinterpreters", "test_interpreters", "test_context", "test_tracemalloc", "test_warnings",
    "test_logging", "test_unittest", "test_doctest", "test_optparse", "test_argparse", "test_pyclbr", "test_pydoc",
    # Tools of the program's own beside ours.
    "test_sys_settrace", "test_sys_setprofile", "test_cprofile", "test_profile", "test_monitoring", "test_bdb", "test_pdb",
    "test_trace", "test_pstats")

SEEN = (
    # Instructions that report events are not replaced by faster ones.
    (r"test_dis\.\w+\.(test_(binary|call|load_attr)_specialize|test_loop_quicken|test_show_caches|test_super_instructions)",
     "shows instructions as they are while calls are traced"),
    (r"test_opcache\.(TestCallCache\.test_(assign_init_code|push_init_frame_fails|specialize_call_function_ex)|TestSpecializer\.)",
     "looks for faster instructions"),
    (r"TestSysJIT\.test_jit_is_active", "what is traced is not compiled"),
    (r"test_sneaky_frame_object", "a profile function has frame objects made (3.11)"),
    # Decision 0021: a profile function of the program's is called when sys.setprofile() has returned; of what sets it the
    # second time, where stubs in the loop's table gave way to sys.monitoring the first time (0029).
    (r"test_sys_setprofile\.TestEdgeCases\.test_method_with_c_function", "is called when sys.setprofile() has returned"),
    (r"test_profile\.", "the pure profile module takes the return of sys.setprofile() for an error"),
    # Decision 0029: once another tool has asked for calls, ours of C functions come from sys.monitoring, too.
    (r"TestEdgeCases\.test_method_with_c_function", "is called at the return of sys.setprofile(), after other tests' profilers"),
    # From 3.12 on we are one of the six tools of sys.monitoring.
    (r"test_monitoring\.", "looks whether any tool has events set"),
    (r"test_set_nomemory", "lets every allocation fail, those among them of what a tool is given"),
    (r"TestTracemallocEnabled\.test_get_traced_memory", "sees the peak of what a tool is given: 28 bytes"),
)


def seen_by_nature(names):
    """(sentences of those that are in the table, the others)."""
    seen, others = [], []
    for name in names:
        reason = next((reason for pattern, reason in SEEN if re.search(pattern, name)), None)
        if reason:
            seen.append(f"{name}: {reason}")
        else:
            others.append(name)
    # A unit ends as its tests do.
    if seen and all(name in ("(ending)", "None") for name in others):
        return seen, []
    return seen, others
