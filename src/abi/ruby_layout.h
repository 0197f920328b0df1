/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * ruby_layout - where one process's CRuby keeps what a walk of its stacks reads.
 *
 * The recorder determines and checks it (target/ruby.h); walkers need nothing else.  Offsets and
 * instructions are those of a version (target/ruby_offsets.h), addresses those of the process.
 */
#pragma once
#include "abi/code_range.h"
#include "abi/tls_variable.h"
#include "abi/types.h"

/* The offset of a field that this version lacks, or that is unknown. */
#define RUBY_NO_FIELD 0xffffU

/*
 * Offsets and sizes in bytes.  frame: rb_control_frame_t; ec: rb_execution_context_t; thread:
 * rb_thread_t; body: struct rb_iseq_constant_body; method: rb_callable_method_entry_t; definition:
 * rb_method_definition_t; ext: rb_classext_t; text: struct RString.
 */
#define RUBY_OFFSET_MAP(X)                                                                     \
	X(frame_size)                                                                          \
	X(frame_pc)                                                                            \
	X(frame_sp)                                                                            \
	X(frame_iseq)                                                                          \
	X(frame_self)                                                                          \
	X(frame_ep)                                                                            \
	X(frame_jit_return) /* from 3.1 on */                                                  \
	X(ec_stack)         /* vm_stack */                                                     \
	X(ec_stack_size)    /* in words */                                                     \
	X(ec_frame)         /* cfp */                                                          \
	X(ec_thread)                                                                           \
	X(ec_machine_start) /* machine.stack_start: where the native stack begins */           \
	X(ec_machine_max)   /* machine.stack_maxsize */                                        \
	X(thread_vm)                                                                           \
	X(thread_self)                                                                         \
	X(thread_ec)                                                                           \
	X(thread_pthread) /* thread_id: the pthread_t; only needed for 2.7 */                  \
	X(thread_link)    /* vmlt_node; only needed for 2.7 */                                 \
	X(thread_name)    /* a String, or nil */                                               \
	X(vm_threads)     /* living_threads, a list_head; only needed for 2.7 */               \
	X(vm_objspace)                                                                         \
	X(vm_shapes)      /* shape_list: 3.2 */                                                \
	X(objspace_flags) /* an unsigned int: mode in its lowest bits */                       \
	X(objspace_count) /* profile.count, a size_t: collections that have begun */           \
	X(iseq_body)                                                                           \
	X(body_type) /* an int: enum iseq_type */                                              \
	X(body_size) /* an unsigned int: words of iseq_encoded */                              \
	X(body_encoded)                                                                        \
	X(body_path)       /* location.pathobj: a String, or an Array that begins with one */  \
	X(body_base_label) /* location.base_label */                                           \
	X(body_label)                                                                          \
	X(body_first_line)     /* location.first_lineno */                                     \
	X(body_lines)          /* insns_info.body: an entry for each range of instructions */  \
	X(body_line_positions) /* insns_info.positions */                                      \
	X(body_line_count)     /* insns_info.size, an unsigned int */                          \
	X(body_line_index)     /* insns_info.succ_index_table */                               \
	X(body_parent)                                                                         \
	X(body_local)                                                                          \
	X(line_size) /* sizeof(struct iseq_insn_info_entry), whose line is an int at 0 */      \
	X(method_definition)                                                                   \
	X(method_called_id)                                                                    \
	X(method_owner)                                                                        \
	X(definition_iseq)     /* body.iseq.iseqptr */                                         \
	X(definition_function) /* body.cfunc.func */                                           \
	X(definition_id)       /* original_id */                                               \
	X(call_data_cache)     /* struct rb_call_data.cc; from 3.0 on */                       \
	X(cache_class)         /* struct rb_callcache.klass */                                 \
	X(cache_method)        /* struct rb_callcache.cme_ */                                  \
	X(class_ext)     /* what is the extension, or a pointer to it: class_ext_is_pointer */ \
	X(ext_classpath) /* from 3.3 on */                                                     \
	X(ext_attached)  /* as.singleton_class.attached_object; from 3.3 on */                 \
	X(ext_table)     /* iv_tbl: up to 3.1 */                                               \
	X(ext_variables) /* iv_ptr: 3.2 */                                                     \
	X(refinement_class) /* RClass.super: of a refinement, the class it refines */          \
	X(text_length)      /* where a String has it that is not embedded */                   \
	X(text_pointer)                                                                        \
	X(text_embedded) /* where the bytes of an embedded String begin */                     \
	X(array_pointer) /* of one that is not embedded */                                     \
	X(array_embedded)                                                                      \
	X(symbols_ids) /* rb_symbols_t.ids, an Array of Arrays */                              \
	X(typed_data)  /* struct RTypedData.data */

struct ruby_offsets {
#define RUBY_OFFSET_FIELD(name) u16 name;
	RUBY_OFFSET_MAP(RUBY_OFFSET_FIELD)
#undef RUBY_OFFSET_FIELD
};

/* How a thread finds its own execution context. */
enum ruby_context_means {
	RUBY_CONTEXT_BY_TLS = 1, /* a thread-local variable: from 3.0 on (abi/tls_variable.h) */
	/* By searching all threads for the one with our pthread_self(): 2.7. */
	RUBY_CONTEXT_BY_LIST,
};

/*
 * Operators that special instructions execute without the frame of an ordinary call: the
 * operator's name, and how many words below the stack pointer its receiver is.
 */
#define RUBY_OPERATOR_MAP(X)                                                                 \
	X(NONE, "", 0)                                                                       \
	X(PLUS, "+", 2)                                                                      \
	X(MINUS, "-", 2)                                                                     \
	X(MULT, "*", 2)                                                                      \
	X(DIV, "/", 2)                                                                       \
	X(MOD, "%", 2)                                                                       \
	X(EQ, "==", 2)                                                                       \
	X(NEQ, "!=", 2)                                                                      \
	X(LT, "<", 2)                                                                        \
	X(LE, "<=", 2)                                                                       \
	X(GT, ">", 2)                                                                        \
	X(GE, ">=", 2)                                                                       \
	X(LTLT, "<<", 2)                                                                     \
	X(AND, "&", 2)                                                                       \
	X(OR, "|", 2)                                                                        \
	X(AREF, "[]", 2)                                                                     \
	X(ASET, "[]=", 3)                                                                    \
	X(AREF_WITH, "[]", 1)                                                                \
	X(ASET_WITH, "[]=", 2)                                                               \
	X(LENGTH, "length", 1)                                                               \
	X(SIZE, "size", 1)                                                                   \
	X(EMPTY, "empty?", 1)                                                                \
	X(SUCC, "succ", 1)                                                                   \
	X(NOT, "!", 1)                                                                       \
	X(NIL_P, "nil?", 1)                                                                  \
	X(MATCH, "=~", 2)                                                                    \
	X(STR_FREEZE, "freeze", 0)                                                           \
	X(STR_UMINUS, "-@", 0)                                                               \
	X(NEWARRAY_MAX, "max", 0)                                                            \
	X(NEWARRAY_MIN, "min", 0)                                                            \
	X(NEWARRAY_SEND, "", 0) /* its operand selects the method: from 3.3 on */            \
	X(SEND, "", 0) /* send, opt_send_without_block: the method is in its inline cache */ \
	X(LEAVE, "", 0)                                                                      \
	X(BUILTIN, "", 0) /* opt_invokebuiltin_delegate_leave: the whole body of some methods */

#define RUBY_OPERATOR_ENUM(name, text, receiver) RUBY_OPERATOR_##name,
enum ruby_operator { RUBY_OPERATOR_MAP(RUBY_OPERATOR_ENUM) RUBY_OPERATOR_COUNT };
#undef RUBY_OPERATOR_ENUM

/* Bits of an instruction's byte: its enum ruby_operator, and a flag. */
#define RUBY_INSTRUCTION_OPERATOR 0x7f
/*
 * The frame's pc points at this instruction while it is executed, not yet behind it (a "leaf"
 * instruction of insns.def, up to 3.2).
 */
#define RUBY_INSTRUCTION_PC_STAYS 0x80

/* Most instructions of a version, including their variants for tracing. */
#define RUBY_MAX_INSTRUCTIONS 320

/* Variables of type VALUE that hold a class. */
#define RUBY_CLASS_MAP(X)   \
	X(INTEGER, Integer) \
	X(FLOAT, Float)     \
	X(STRING, String)   \
	X(ARRAY, Array)     \
	X(HASH, Hash)       \
	X(SYMBOL, Symbol)   \
	X(REGEXP, Regexp)   \
	X(NIL, NilClass)    \
	X(TRUE, TrueClass)  \
	X(FALSE, FalseClass)

#define RUBY_CLASS_ENUM(name, text) RUBY_CLASS_##name,
enum ruby_class { RUBY_CLASS_MAP(RUBY_CLASS_ENUM) RUBY_CLASS_COUNT };
#undef RUBY_CLASS_ENUM

/*
 * Functions that the agent calls, by their exported names without "rb_"; 0: the version lacks it.
 * Those of postponed jobs are called in signal handlers, the others on the interpreter's own
 * thread.
 */
#define RUBY_FUNCTION_MAP(X)          \
	X(postponed_job_register_one) \
	X(postponed_job_preregister)  \
	X(postponed_job_trigger)      \
	X(add_event_hook)             \
	X(add_event_hook2)            \
	X(eval_string_protect)        \
	X(set_errinfo)                \
	X(ary_entry)                  \
	X(intern)                     \
	X(proc_call_with_block)       \
	X(protect)                    \
	X(profile_frames)             \
	X(profile_frame_path)         \
	X(profile_frame_label)        \
	X(profile_frame_first_lineno) \
	X(id2name)

struct ruby_functions {
#define RUBY_FUNCTION_FIELD(name) u64 name;
	RUBY_FUNCTION_MAP(RUBY_FUNCTION_FIELD)
#undef RUBY_FUNCTION_FIELD
};

struct ruby_layout {
	u32 version;             /* 3.1.2 is 0x030102 */
	u8 is_known;             /* 0: no interpreter, or none whose frames can be walked */
	u8 context_means;        /* enum ruby_context_means */
	u8 class_ext_is_pointer; /* up to 3.1 */
	u8 singleton_flag;       /* the number of the bit in a class's flags */
	u8 first_line_is_value;  /* body_first_line is a Fixnum: up to 3.1 */
	u8 text_length_in_flags; /* an embedded String has its length in its flags: up to 3.1 */
	u8 nil;                  /* Qnil: 8 up to 3.1, then 4 */
	u8 last_operator_id;     /* tLAST_OP_ID */
	u32 padding;
	struct ruby_offsets offsets;

	u64 load_bias; /* added to the file's addresses */

	/* Addresses in the process. */
	struct code_range loop[CODE_RANGES]; /* rb_vm_exec(): a call is an activation */
	struct code_range core[CODE_RANGES]; /* vm_exec_core(), called by it: the loop */
	struct tls_variable context;         /* ruby_current_ec */
	u64 vm;      /* ruby_current_vm_ptr, a pointer to the VM; only needed for 2.7, 3.2 */
	u64 symbols; /* ruby_global_symbols */
	u64 classes[RUBY_CLASS_COUNT]; /* rb_cInteger, …: addresses of these variables */
	struct ruby_functions functions;

	/*
	 * The address of each instruction's code, less core[0].start, in ascending order; and, in
	 * the same order, what the instruction does.  An iseq consists of these addresses and
	 * operands.
	 */
	u32 instruction_count;
	u32 labels[RUBY_MAX_INSTRUCTIONS];
	u8 instructions[RUBY_MAX_INSTRUCTIONS];
};
