/*
 * python_row - the layout data of one CPython version.
 *
 * The rows are in python_offsets.h, which is generated. Not for walkers: a row becomes a struct
 * python_layout once a file was found to agree with it.
 */
#pragma once
#include "abi/python_layout.h"

/* Expected offsets in PyTypeObject and sizes, to be compared with a file's own type objects. */
struct python_checks {
	u16 type_basic_size; /* tp_basicsize */
	u16 type_members;    /* tp_members */
	u16 code_size;       /* PyCode_Type's basic size, and so on */
	u16 text_size;       /* PyUnicode_Type */
	u16 frame_size;      /* PyFrame_Type */
	u16 generator_size;  /* PyGen_Type */
};

/*
 * Offsets in struct _Py_DebugOffsets itself, with which _PyRuntime begins from 3.13 on; size 0:
 * the version has none.
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
	/*
	 * For each field, the place in that struct that holds its offset; PYTHON_NO_FIELD:
	 * none.
	 */
	struct python_offsets debug;
};
