"""Runs a program with hooks that do nothing but read the clock: floor.py LIBRARY PROGRAM [ARGUMENT...]"""

import ctypes
import sys

library = ctypes.PyDLL(sys.argv[1])
with open(sys.argv[2]) as file:
    program = compile(file.read(), sys.argv[2], "exec")
sys.argv = sys.argv[2:]
sys.path[0] = sys.argv[0].rpartition("/")[0]
space = {"__name__": "__main__", "__file__": sys.argv[0]}
if sys.version_info >= (3, 12):
    library.floor_callback.restype = ctypes.py_object
    tool, events, chosen = 3, sys.monitoring.events, 0
    sys.monitoring.use_tool_id(tool, "floor")
    for name in ("PY_START", "PY_RESUME", "PY_THROW", "PY_RETURN", "PY_YIELD", "PY_UNWIND", "CALL", "C_RETURN", "C_RAISE"):
        event = getattr(events, name)
        sys.monitoring.register_callback(tool, event, library.floor_callback())
        # C_RETURN and C_RAISE come with CALL.
        chosen |= 0 if name.startswith("C_") else event
    sys.monitoring.set_events(tool, chosen)
else:
    library.floor_set_profile()
exec(program, space)
