/*
 * ruby_internal - what is known of a process's CRuby, shared by the files behind remote/ruby.h.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "abi/ruby_layout.h"

struct ruby_image;

struct ruby_context {
	uint64_t context, thread; /* rb_execution_context_t, rb_thread_t; 0: none yet */
	uint64_t place; /* the variable that has the context; 0: it is in a list (2.7) */
	pid_t tid;      /* as its own PID namespace numbers it */
};

struct remote_ruby {
	const struct ruby_image *image; /* of remote->files */
	struct ruby_layout layout;
	struct code_range waitpid;
	struct ruby_context *contexts; /* as last listed */
	size_t count, capacity;
};
