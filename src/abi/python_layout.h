/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * python_layout - where one process's CPython keeps what a walk of its stacks reads.
 *
 * The recorder determines and checks it (target/python.h); walkers need nothing else.  Offsets
 * are those of a version (target/python_offsets.h), addresses those of the process.
 */
#pragma once
#include "abi/code_range.h"
#include "abi/tls_variable.h"
#include "abi/types.h"

/* The offset of a field that this version lacks, or that is unknown. */
#define PYTHON_NO_FIELD 0xffffU

/* How frames are linked, and which of them one activation of the eval loop executes. */
enum python_chain {
	PYTHON_CHAIN_OBJECTS = 1, /* 2.7 to 3.10: one PyFrameObject for each activation */
	PYTHON_CHAIN_ENTRY_FLAG,  /* 3.11: _PyCFrame; up to a frame with is_entry */
	PYTHON_CHAIN_CFRAME_SHIM, /* 3.12: _PyCFrame; up to an entry frame on the C stack */
	PYTHON_CHAIN_SHIM,        /* 3.13 and later: the thread state; as 3.12 */
};

/* How a frame stores the instruction being executed. */
enum python_position {
	PYTHON_POSITION_BYTES = 1, /* f_lasti in bytes: 2.7 to 3.9 */
	PYTHON_POSITION_UNITS,     /* f_lasti in code units: 3.10 */
	PYTHON_POSITION_POINTER,   /* a pointer into the code: from 3.11 on */
};

/* Format of a code object's line table (target/python_lines.h). */
enum python_table {
	PYTHON_TABLE_NONE,
	PYTHON_TABLE_LNOTAB_UNSIGNED, /* co_lnotab: 2.7 */
	PYTHON_TABLE_LNOTAB,          /* co_lnotab, lines may go back: 3.6 to 3.9 */
	PYTHON_TABLE_PAIRS,           /* co_linetable: 3.10 */
	PYTHON_TABLE_LOCATIONS,       /* co_linetable: from 3.11 on */
	PYTHON_TABLE_COUNT,
};

/* Where an instance of an ordinary class has its attributes (walk/python_thread.h). */
enum python_attributes {
	PYTHON_ATTRIBUTES_UNREAD, /* not known */
	PYTHON_ATTRIBUTES_TABLE,  /* 2.7 */
	PYTHON_ATTRIBUTES_DICT,   /* 3.6 to 3.10 */
	PYTHON_ATTRIBUTES_BEFORE, /* in words before the object: 3.11 */
	PYTHON_ATTRIBUTES_TAGGED, /* in one word before it: 3.12 */
	PYTHON_ATTRIBUTES_INLINE, /* behind the object: from 3.13 on */
};

/* How a thread finds its own thread state. */
enum python_state_means {
	/* By calling PyGILState_GetThisThreadState(): a read of a pthread key; 3.6 to 3.14. */
	PYTHON_STATE_BY_CALL = 1,
	/* By searching all states for the one with our thread_id: 2.7. */
	PYTHON_STATE_BY_LIST,
	/* In a thread-local variable: 3.15. */
	PYTHON_STATE_BY_TLS,
};

/*
 * Offsets in bytes.  state: PyThreadState; interp: PyInterpreterState; frame: PyFrameObject or
 * _PyInterpreterFrame; code: PyCodeObject; text: str; bytes: bytes, 2.7's str.
 */
#define PYTHON_OFFSET_MAP(X)                                                            \
	X(state_next)                                                                   \
	X(state_interp)                                                                 \
	X(state_frame)                                                                  \
	X(state_cframe)                                                                 \
	X(state_base_frame) /* a pointer to the sentinel that ends the chain: 3.15 */   \
	X(state_thread_id)                                                              \
	X(cframe_frame)                                                                 \
	X(cframe_previous)                                                              \
	X(interp_next)                                                                  \
	X(interp_threads)                                                               \
	X(frame_previous)                                                               \
	X(frame_code)                                                                   \
	X(frame_position)                                                               \
	X(frame_is_entry)                                                               \
	X(frame_owner)                                                                  \
	X(frame_locals)         /* localsplus, f_localsplus */                          \
	X(frame_stack)          /* the pointer stackpointer: from 3.14 on */            \
	X(frame_bytecode_index) /* tlbc_index, free-threaded: which copy of the code */ \
	X(code_flags)                                                                   \
	X(code_first_line)                                                              \
	X(code_filename)                                                                \
	X(code_name)                                                                    \
	X(code_qualname)                                                                \
	X(code_table)                                                                   \
	X(code_instructions)                                                            \
	X(code_copies)          /* co_tlbc */                                           \
	X(code_first_traceable) /* from 3.11 on: an int, in code units */               \
	X(code_stack_size)                                                              \
	X(code_local_count) /* co_nlocalsplus; before 3.11 co_nlocals */                \
	X(object_type)                                                                  \
	X(type_name)                                                                    \
	X(type_keys) /* PyHeapTypeObject.ht_cached_keys */                              \
	X(text_length)                                                                  \
	X(text_state)                                                                   \
	X(text_ascii)   /* where a compact ASCII string's characters begin */           \
	X(text_compact) /* and those of another compact string */                       \
	X(bytes_length)                                                                 \
	X(bytes_data)                                                                   \
	X(builtin_method) /* PyCFunctionObject.m_ml */                                  \
	X(builtin_self)                                                                 \
	X(builtin_module)                                                               \
	X(descriptor_method) /* PyMethodDescrObject.d_method */                         \
	X(descriptor_type)

struct python_offsets {
#define PYTHON_OFFSET_FIELD(name) u16 name;
	PYTHON_OFFSET_MAP(PYTHON_OFFSET_FIELD)
#undef PYTHON_OFFSET_FIELD
};

struct python_layout {
	u32 version;    /* as PY_VERSION_HEX has it: 0x030b02f0 */
	u8 chain;       /* enum python_chain; 0: no interpreter, or an unknown one */
	u8 position;    /* enum python_position */
	u8 table;       /* enum python_table */
	u8 state_means; /* enum python_state_means */
	u8 is_free_threaded;
	u8 has_unicode; /* names are str objects of 3.3 and later; else bytes */
	u8 attributes;  /* enum python_attributes */
	u8 padding;
	struct python_offsets offsets;

	u64 load_bias; /* added to the file's addresses */

	/* Addresses in the process. */
	struct code_range loop[CODE_RANGES]; /* the interpreter's loop */
	u64 state_function;                  /* PyGILState_GetThisThreadState */
	u64 head_function;                   /* PyInterpreterState_Head */
	struct tls_variable state;
	u64 code_type;       /* PyCode_Type */
	u64 builtin_type;    /* PyCFunction_Type */
	u64 descriptor_type; /* PyMethodDescr_Type */
	u64 type_type;       /* PyType_Type */
	u64 none;            /* _Py_NoneStruct */
};
