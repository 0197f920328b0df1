/*
 * ruby_internal - what is known of the CRuby of a process, for the files of remote/ruby.h.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "abi/ruby_layout.h"

struct ruby_image;

struct ruby_context {
	uint64_t context, thread; /* rb_execution_context_t, rb_thread_t */
	pid_t tid;                /* as its own PID namespace numbers it */
};

struct remote_ruby {
	struct ruby_image *image;
	struct ruby_layout layout;
	struct ruby_context *contexts; /* as they were listed last */
	size_t count, capacity;
};
