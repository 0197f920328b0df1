"""fathom - what a program can say to the profiler that it runs under.

    import fathom

    with fathom.region("load"):
        load()

    @fathom.region("answer")
    def answer(question):
        ...

    fathom.pause()      # nothing is recorded from here
    fathom.resume()     # to here

Reports have a row "[region load]" then, inside of the function that began the region and outside of what it
calls, and `fathom report --by region` adds up by regions.

A program that does not run under fathom has functions that do nothing; nothing is looked for but
once, when this is imported, and nothing that is done here raises an exception.  This file is all there is
to it, for Python 2.7 and 3: copy it to where the program finds it.  docs/control.md says more.
"""

__all__ = ["is_running", "pause", "region", "resume"]


def _find_agent():
    """The module that the profiler in this process has for us, or None."""
    import sys
    try:
        with open("/proc/self/maps", "rb") as maps:
            paths = [line.split(None, 5)[-1].rstrip(b"\n") for line in maps if b"/libfathom-agent" in line]
        # A debug build that counts references has other objects.
        if not paths or hasattr(sys, "getobjects"):
            return None
        if sys.version_info < (3,):
            import imp
            return imp.load_dynamic("_fathom", paths[0])
        import importlib.machinery
        import importlib.util
        import os
        name = "_fathom_threaded" if "t" in getattr(sys, "abiflags", "") else "_fathom"
        path = os.fsdecode(paths[0])
        loader = importlib.machinery.ExtensionFileLoader(name, path)
        spec = importlib.util.spec_from_file_location(name, path, loader=loader)
        module = importlib.util.module_from_spec(spec)
        loader.exec_module(module)
        return module
    except Exception:
        return None


def _nothing(name=None):
    """While the program is not recorded."""


def _is_not_running():
    return False


_agent = _find_agent()
_begin = getattr(_agent, "begin", _nothing)
_end = getattr(_agent, "end", _nothing)
_pause = getattr(_agent, "pause", _nothing)
_resume = getattr(_agent, "resume", _nothing)
_is_running = getattr(_agent, "is_running", _is_not_running)


def pause():
    """Nothing is recorded of this process any more, on any thread, until resume()."""
    _pause()


def resume():
    """Ends any number of pauses."""
    _resume()


def is_running():
    """Whether this process is being recorded, and not paused."""
    return _is_running()


def _text_of(name):
    """As it is shown: the name of a region may be any object."""
    try:
        if str is bytes and not isinstance(name, str):
            return unicode(name).encode("utf-8")  # noqa: F821 (2.7)
        return name if type(name) is str else str(name)
    except Exception:
        return "?"


class _Region(object):
    """A region, as a context manager and as a decorator; it may be entered by many at one time."""

    __slots__ = ("_name",)

    def __init__(self, name):
        self._name = _text_of(name)

    def __enter__(self):
        _begin(self._name)

    def __exit__(self, *exception):
        _end(self._name)

    def __call__(self, function):
        return _wrapped(function, self)


class _Nothing(object):
    """The same while not recorded: it leaves functions as they are."""

    __slots__ = ()

    # C functions that take any arguments, and give what is false: called in a third of the time of Python's.
    __enter__ = __exit__ = "".format

    def __call__(self, function):
        return function


_NOTHING = _Nothing()
_GENERATOR, _COROUTINE, _ASYNC_GENERATOR = 0x20, 0x80, 0x200  # inspect.CO_...

# What 2.7 could not compile.  A region of a generator is open as long as it has begun and not ended, and is shown where
# it is being executed.
_WRAPPERS = {
    _GENERATOR: """
def make(function, region):
    def generator(*args, **kwargs):
        with region:
            return (yield from function(*args, **kwargs))
    return generator
""",
    _COROUTINE: """
def make(function, region):
    async def coroutine(*args, **kwargs):
        with region:
            return await function(*args, **kwargs)
    return coroutine
""",
}


def _wrapper_of(function, region):
    flags = getattr(getattr(function, "__code__", None), "co_flags", 0)
    if flags & _ASYNC_GENERATOR:
        return function  # nothing can stand around it that passes on what is sent to it
    for flag, source in _WRAPPERS.items():
        if flags & flag and str is not bytes:
            names = {}
            exec(source, names)
            return names["make"](function, region)

    def wrapper(*args, **kwargs):
        with region:
            return function(*args, **kwargs)
    return wrapper


def _wrapped(function, region):
    import functools
    wrapper = _wrapper_of(function, region)
    if wrapper is function:
        return function
    try:
        return functools.update_wrapper(wrapper, function)
    except AttributeError:  # 2.7, of what is no function
        return wrapper


def region(name):
    """A region of that name, for `with` or as a decorator of a function, a generator or a coroutine."""
    return _Region(name)


if _agent is None:
    def region(name):  # noqa: F811
        """Nothing: the program is not recorded."""
        return _NOTHING
