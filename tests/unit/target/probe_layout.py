"""Run by any CPython from 2.7 on: compares its own objects with a layout that read_python printed.

Prints a sentence for each thing that is not where the layout says, and in the end how many things
were compared.

usage: probe_layout.py LAYOUT
"""
import ctypes
import sys
import threading

NONE = 0xffff
api = ctypes.pythonapi
api.PyGILState_GetThisThreadState.restype = ctypes.c_void_p
api.PyInterpreterState_Head.restype = ctypes.c_void_p

compared = []


def read_layout(path):
    layout, loops = {}, []
    with open(path) as file:
        for line in file:
            words = line.split()
            if words[0] == "loop":
                loops.append((int(words[1]), int(words[2])))
            elif words[0] not in ("file", "version", "why_not"):
                layout[words[0]] = int(words[1])
    return layout, loops


def word(address):
    return ctypes.c_size_t.from_address(address).value


def integer(address):
    return ctypes.c_int.from_address(address).value


def text(address):
    return ctypes.string_at(address).decode("ascii")


def same(what, got, wanted):
    compared.append(what)
    if got != wanted:
        print("%s: %r instead of %r" % (what, got, wanted))


def check_code(at, code):
    # A code object that has not been executed: what its instructions are is not replaced yet.
    address = id(code)
    same("code_name", word(address + at["code_name"]), id(code.co_name))
    same("code_filename", word(address + at["code_filename"]), id(code.co_filename))
    same("code_first_line", integer(address + at["code_first_line"]), code.co_firstlineno)
    same("code_flags", integer(address + at["code_flags"]), code.co_flags)
    same("code_stack_size", integer(address + at["code_stack_size"]), code.co_stacksize)
    table = code.co_linetable if hasattr(code, "co_linetable") else code.co_lnotab
    same("code_table", word(address + at["code_table"]), id(table))
    same("has code_qualname", at["code_qualname"] != NONE, sys.version_info >= (3, 11))
    if sys.version_info >= (3, 11):
        same("code_qualname", word(address + at["code_qualname"]), id(code.co_qualname))
        same("code_local_count", integer(address + at["code_local_count"]),
             len(code.co_varnames) + len(set(code.co_cellvars) - set(code.co_varnames)) +
             len(code.co_freevars))
        instructions = ctypes.string_at(address + at["code_instructions"], len(code.co_code))
        # Counters stand where co_code shows nothing.
        same("code_instructions", all(shown in (b"\0"[0], there) for there, shown in
                                      zip(instructions, code.co_code)), True)
        first = integer(address + at["code_first_traceable"])
        same("code_first_traceable is that of RESUME", code.co_code[first * 2], RESUME)
    else:
        same("code_local_count", integer(address + at["code_local_count"]), code.co_nlocals)
    same("object_type", word(address + at["object_type"]), id(type(code)))
    same("type_name", text(word(id(type(code)) + at["type_name"])), "code")


def check_texts(at):
    if at["text_length"] == NONE:
        same("it is 2.7", sys.version_info[0], 2)
        same("bytes_length", word(id("abc") + at["bytes_length"]), 3)
        same("bytes_data", ctypes.string_at(id("abc") + at["bytes_data"]), b"abc")
        return
    for name, string, kind in (("text_ascii", "abc", 1), ("text_compact", u"\xe9t\xe9", 1),
                               ("text_compact", u"\u20acuro", 2),
                               ("text_compact", u"\U0001f40d!", 4)):
        encoding = {1: "latin-1", 2: "utf-16-le", 4: "utf-32-le"}[kind]
        same("text_length", word(id(string) + at["text_length"]), len(string))
        data = string.encode(encoding)
        same(name, ctypes.string_at(id(string) + at[name], len(data)), data)
        # PyASCIIObject.state: interned, kind, compact, ascii, by bits.
        state = integer(id(string) + at["text_state"])
        shift = STATE_SHIFT
        same("text_state's kind", state >> shift & 7, kind)
        same("text_state's compact and ascii", state >> (shift + 3) & 3,
             1 | (name == "text_ascii") << 1)
    same("bytes_length", word(id(b"abcd") + at["bytes_length"]), 4)
    same("bytes_data", ctypes.string_at(id(b"abcd") + at["bytes_data"]), b"abcd")


def check_builtins(at):
    method = word(id(len) + at["builtin_method"])
    same("builtin_method", text(word(method)), "len")
    same("builtin_module", word(id(len) + at["builtin_module"]), id(len.__module__))
    same("builtin_self", word(id([].append.__self__) + at["object_type"]), id(list))
    values = [3]
    append = values.append
    same("builtin_self", word(id(append) + at["builtin_self"]), id(values))
    same("descriptor_method", text(word(word(id(str.join) + at["descriptor_method"]))), "join")
    same("descriptor_type", word(id(str.join) + at["descriptor_type"]), id(str))


def innermost_frame(at, state):
    if at["state_cframe"] != NONE:
        return word(word(state + at["state_cframe"]) + at["cframe_frame"])
    return word(state + at["state_frame"])


def chain_of(at, state):
    """(frame, code) of the thread's frames, innermost first."""
    frame, end = innermost_frame(at, state), 0
    if at["state_base_frame"] != NONE:
        end = word(state + at["state_base_frame"])
    for _ in range(1000):
        if frame in (0, end):
            same("the chain's end", frame, end)
            return
        yield frame, word(frame + at["frame_code"]) & ~3
        frame = word(frame + at["frame_previous"])
    same("the chain's end", None, end)


def check_frames(state, at):
    # What is further inside are our helpers, which come and go.
    own = id(check_frames.__code__)
    chain = list(chain_of(at, state))
    while chain[0][1] != own:
        chain.pop(0)
    wanted, frame = [], sys._getframe()
    while frame is not None:
        wanted.append(id(frame.f_code))
        frame = frame.f_back
    got, kinds, owners = [], set(), set()
    for frame, code in chain:
        if not is_shim(at, frame):
            got.append(code)
            kinds.add(word(code + at["object_type"]))
            owners.add(owner_of(at, frame))
    same("the codes of the chain", got, wanted)
    same("the types of the codes", kinds, set([id(type(check_frames.__code__))]))
    if at["frame_owner"] != NONE:
        same("frame_owner of functions", owners, set([0]))
        same("frame_owner of a generator", list(owner_in_generator(state, at)), [1])
    check_own_frame(at, chain[0][0], state)
    if at["frame_is_entry"] != NONE:
        entries = [ctypes.c_ubyte.from_address(frame + at["frame_is_entry"]).value
                   for frame, _ in chain]
        same("frame_is_entry", (set(entries) <= set([0, 1]), entries[-1]), (True, 1))


def owner_of(at, frame):
    if at["frame_owner"] == NONE:
        return 0
    return ctypes.c_byte.from_address(frame + at["frame_owner"]).value


def is_shim(at, frame):
    return owner_of(at, frame) >= 3


def owner_in_generator(state, at):
    frame = innermost_frame(at, state)
    while word(frame + at["frame_code"]) & ~3 != id(owner_in_generator.__code__):
        frame = word(frame + at["frame_previous"])
    yield owner_of(at, frame)


def check_own_frame(at, frame, state):
    """The frame of check_frames(), whose first argument and position are known."""
    code = check_frames.__code__
    # Integers may be kept in another object than the one that was passed; the value counts.
    first = word(frame + at["frame_locals"]) & ~3
    same("frame_locals", ctypes.cast(first, ctypes.py_object).value, state)
    if sys.version_info < (3, 11):
        unit = 1 if sys.version_info < (3, 10) else 2
        position = integer(frame + at["frame_position"]) * unit
    else:
        position = word(frame + at["frame_position"]) - instructions_of(at, frame, code)
    same("frame_position is in the code", 0 <= position < len(code.co_code), True)
    if at["frame_stack"] != NONE:
        used = word(frame + at["frame_stack"]) - frame - at["frame_locals"]
        most = len(code.co_varnames) + len(code.co_cellvars) + code.co_stacksize
        same("frame_stack is in the frame", 0 <= used <= 8 * most, True)


def instructions_of(at, frame, code):
    if at["code_copies"] == NONE:
        return id(code) + at["code_instructions"]
    index = integer(frame + at["frame_bytecode_index"])
    copies = word(id(code) + at["code_copies"])
    same("frame_bytecode_index", 0 <= index < word(copies), True)
    return word(copies + 8 + 8 * index)


def check_state(at, state):
    thread = threading.current_thread().ident
    same("state_thread_id", word(state + at["state_thread_id"]), thread)
    interp = word(state + at["state_interp"])
    same("state_interp", interp, api.PyInterpreterState_Head())
    same("interp_next", word(interp + at["interp_next"]), 0)
    states, at_state = [], word(interp + at["interp_threads"])
    while at_state and len(states) < 100:
        states.append(at_state)
        at_state = word(at_state + at["state_next"])
    same("the list of states has ours", state in states, True)
    same("the list of states", len(states), threading.active_count())
    place = ctypes.c_ssize_t(at["state_place"]).value
    if at["state_variable"] == 1:  # TLS_STATIC
        same("state_place", word(thread + place), state)
    if at["state_variable"] == 2:  # TLS_BY_MODULE
        # The thread's vector of blocks: module numbers, two words each (glibc, sysdeps/x86_64).
        blocks = word(thread + 8)
        block = word(blocks + 16 * word(at["state_module"] + at["bias"]))
        same("state_place", word(block + place), state)


def in_thread(at):
    state = api.PyGILState_GetThisThreadState()
    check_state(at, state)
    check_frames(state, at)


def main():
    at, loops = read_layout(sys.argv[1])
    loop = api.PyEval_EvalFrameEx if sys.version_info < (3,) else api._PyEval_EvalFrameDefault
    at["bias"] = ctypes.cast(loop, ctypes.c_void_p).value - loops[0][0]
    same("the bias is one", at["bias"] % 4096, 0)
    for name, symbol in (("state_function", api.PyGILState_GetThisThreadState),
                         ("head_function", api.PyInterpreterState_Head)):
        same(name, at[name] + at["bias"], ctypes.cast(symbol, ctypes.c_void_p).value)
    same("code_type", at["code_type"] + at["bias"], id(type(main.__code__)))
    same("none", at["none"] + at["bias"], id(None))
    same("hex", at["hex"], sys.hexversion)

    source = "def f(a, b=1):\n    c = [a]\n    return lambda: (b, c)\n"
    code = [each for each in compile(source, "<text>", "exec").co_consts if hasattr(each, "co_name")][0]
    check_code(at, code)
    check_texts(at)
    check_builtins(at)
    in_thread(at)
    thread = threading.Thread(target=in_thread, args=(at,))
    thread.start()
    thread.join()
    print("%d compared" % len(compared))


if sys.version_info >= (3, 11):
    import opcode
    RESUME = opcode.opmap["RESUME"]
# Bits of PyASCIIObject.state before the kind: 2 of interned; 3.14 aligned them otherwise.
STATE_SHIFT = 2
main()
