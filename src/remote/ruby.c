#include "remote/ruby.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "remote/interpreter_files.h"
#include "remote/process.h"
#include "remote/pthreads.h"
#include "remote/ruby_internal.h"
#include "target/ruby.h"
#include "walk/ruby.h"
#include "walk/ruby_names.h"

#define MOST_THREADS 65536U

bool remote_ruby_find(struct remote *remote, const struct remote_image *image, const char *path)
{
	const struct ruby_image *file = interpreter_files_ruby(remote->files, path);

	if (!file)
		return false;
	if (ruby_image_why_not(file)) {
		const char *why = ruby_image_why_not(file);

		remote->why_no_ruby = remote_keep(remote, why, strlen(why));
		return false;
	}
	struct remote_ruby *ruby = xzalloc(sizeof *ruby);

	ruby->image = file;
	ruby_image_layout(file, image->bias, &ruby->layout);
	ruby->waitpid = ruby_image_waitpid(file, image->bias);
	if (remote->images.count > 0) {
		const struct remote_image *program = &remote->images.images[0];
		CLEANUP(freep) char *its_path = remote_image_path(remote, program);

		ruby_layout_use_copies(&ruby->layout, its_path, program->bias);
	}
	remote->ruby = ruby;
	return true;
}

void remote_ruby_free(struct remote_ruby *ruby)
{
	if (!ruby)
		return;
	free(ruby->contexts);
	free(ruby);
}

const struct ruby_layout *remote_ruby_layout(const struct remote_ruby *ruby)
{
	return &ruby->layout;
}

const char *remote_ruby_version(const struct remote_ruby *ruby)
{
	return ruby_image_version(ruby->image);
}

static void set_context(struct remote *remote, struct ruby_context *known, uint64_t context)
{
	const struct ruby_offsets *offsets = &remote->ruby->layout.offsets;

	known->context = context;
	if (context == 0 ||
	    ruby_read(&remote->mem, &known->thread, context, offsets->ec_thread) < 0)
		known->context = known->thread = 0;
}

static void add(struct remote *remote, uint64_t place, uint64_t context, pid_t tid)
{
	struct remote_ruby *ruby = remote->ruby;

	ruby->contexts = array_grow(ruby->contexts, ruby->count, &ruby->capacity,
				    sizeof *ruby->contexts);
	ruby->contexts[ruby->count] = (struct ruby_context){ .place = place, .tid = tid };
	set_context(remote, &ruby->contexts[ruby->count++], context);
}

/* 2.7: lists the VM's threads, each with its pthread_self(). */
static void list_vm(struct remote *remote)
{
	const struct ruby_layout *layout = &remote->ruby->layout;
	const struct ruby_offsets *offsets = &layout->offsets;
	uint64_t vm, node, pointer, context;

	if (mem_read(&remote->mem, &vm, sizeof vm, layout->vm) < 0)
		return;
	node = vm + offsets->vm_threads;
	for (uint32_t i = 0; i < MOST_THREADS; i++) {
		if (mem_read(&remote->mem, &node, sizeof node, node) < 0 ||
		    node == vm + offsets->vm_threads)
			return;
		const uint64_t thread = node - offsets->thread_link;

		if (ruby_read(&remote->mem, &pointer, thread, offsets->thread_pthread) < 0 ||
		    ruby_read(&remote->mem, &context, thread, offsets->thread_ec) < 0)
			return;
		add(remote, 0, context, pthreads_tid_at(remote, pointer));
	}
}

/* The address of the thread-local variable of the thread with this thread pointer; 0: none. */
static uint64_t variable_of(struct mem *mem, const struct tls_variable *variable,
			    uint64_t pointer)
{
	uint64_t module, blocks, block = pointer;

	if (variable->means == TLS_BY_MODULE &&
	    (mem_read(mem, &module, sizeof module, variable->module) < 0 ||
	     mem_read(mem, &blocks, sizeof blocks, pointer + 8) < 0 ||
	     mem_read(mem, &block, sizeof block, blocks + module * 16) < 0))
		return 0;
	return block + variable->place;
}

static uint64_t value_at(struct mem *mem, uint64_t place)
{
	uint64_t value;

	return mem_read(mem, &value, sizeof value, place) < 0 ? 0 : value;
}

void remote_ruby_list(struct remote *remote)
{
	const struct ruby_layout *layout = &remote->ruby->layout;
	struct pthread_places places;

	remote->ruby->count = 0;
	if (layout->context_means == RUBY_CONTEXT_BY_LIST) {
		list_vm(remote);
		return;
	}
	pthreads_read(remote, &places);
	for (size_t i = 0; i < places.count; i++) {
		const uint64_t place =
			variable_of(&remote->mem, &layout->context, places.places[i].pointer);

		add(remote, place, value_at(&remote->mem, place), places.places[i].tid);
	}
	pthreads_done(&places);
}

/* A native thread changes its context with each fiber, and up to 3.2 with each Thread.new. */
uint64_t remote_ruby_context(struct remote *remote, pid_t inner_tid)
{
	for (size_t i = 0; i < remote->ruby->count; i++) {
		struct ruby_context *known = &remote->ruby->contexts[i];

		if (known->tid != inner_tid)
			continue;
		if (known->place != 0)
			set_context(remote, known, value_at(&remote->mem, known->place));
		return known->context;
	}
	return 0;
}

const char *remote_ruby_thread_name(struct remote *remote, uint64_t context)
{
	const struct ruby_layout *layout = &remote->ruby->layout;
	struct name_text name = { 0 };
	uint64_t thread, text;

	if (ruby_read(&remote->mem, &thread, context, layout->offsets.ec_thread) < 0 ||
	    ruby_read(&remote->mem, &text, thread, layout->offsets.thread_name) < 0 ||
	    ruby_text_append(&remote->mem, layout, text, &name) < 0)
		return NULL;
	return remote_keep_name(remote, &name);
}
