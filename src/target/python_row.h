/*
 * python_row - what is known of one CPython version, for all its processes.
 *
 * The rows are in python_offsets.h, which a program makes.  Not for walkers: a row becomes a
 * struct python_layout when a file has been found to agree with it.
 */
#pragma once
#include "abi/python_layout.h"

/* What a file's own type objects are held against: offsets in PyTypeObject, and sizes. */
struct python_checks {
	u16 type_basic_size; /* tp_basicsize */
	u16 type_members;    /* tp_members */
	u16 code_size;       /* PyCode_Type's basic size, and so on */
	u16 text_size;       /* PyUnicode_Type */
	u16 frame_size;      /* PyFrame_Type */
	u16 generator_size;  /* PyGen_Type */
};

/*
 * Where `struct _Py_DebugOffsets`, with which _PyRuntime begins from 3.13 on, has its own
 * fields; size 0: the version has none.
 */
struct python_debug_head {
	u16 size;
	u16 version;
	u16 free_threaded;
};

struct python_row {
	u8 major, minor;
	u8 is_free_threaded;
	u8 chain;       /* enum python_chain */
	u8 position;    /* enum python_position */
	u8 table;       /* enum python_table */
	u8 state_means; /* enum python_state_means */
	u8 attributes;  /* enum python_attributes */
	struct python_offsets offsets;
	struct python_checks checks;
	struct python_debug_head debug_head;
	/* Where in that struct the offset of each field stands; PYTHON_NO_FIELD: nowhere. */
	struct python_offsets debug;
};
