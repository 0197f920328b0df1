/*
 * ruby_stacks - the stacks of a Ruby process, walked from outside as the agent walks them
 * inside.
 *
 * For each line on standard input it stops each thread of the process in turn, and prints for
 * those that have Ruby frames, innermost first,
 *
 *	thread <tid>
 *	frame <kind> <line> <first line> <path> TAB <name> TAB <qualified name> TAB <key>
 *
 * and `end`, or `broken`; and when all are done, `walked` and how often memory was read.
 *
 * kind: `iseq`, `c`, `block_c` or `base`, with `*` where the frame is the last of a call of
 * rb_vm_exec(), and `+` where its rescue clause has reported it.  Line 0: unknown.  A frame
 * `leaf` comes before the innermost one, where that does something without a frame of its own.
 *
 * Ends with 77 if the system does not let it trace the process.
 *
 * usage: ruby_stacks PID FILE    FILE: the program or library that the interpreter is in
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dirent.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "base/error.h"
#include "target/load_bias.h"
#include "target/maps.h"
#include "target/ruby.h"

struct mem {
	pid_t pid;
	unsigned long reads;
};

#include "walk/mem.h"

static inline int mem_read(struct mem *mem, void *dst, u32 len, u64 addr)
{
	struct iovec to = { dst, len }, from = { (void *)addr, len };

	mem->reads++;
	return process_vm_readv(mem->pid, &to, 1, &from, 1, 0) == (ssize_t)len ? 0 : -1;
}

#include "walk/ruby.h"
#include "walk/ruby_line.h"
#include "walk/ruby_names.h"

#define FRAMES_MAX 20000
#define REFUSED    77

static int fail(const char *what, const char *why)
{
	fprintf(stderr, "ruby_stacks: %s: %s\n", what, why);
	return 1;
}

/* The value of a thread's own variable, by its thread pointer; 0 if it has none. */
static u64 own_variable(struct mem *mem, const struct tls_variable *variable, u64 pointer)
{
	u64 module, vector, block, value;

	if (variable->means == TLS_STATIC)
		block = pointer;
	else if (variable->means != TLS_BY_MODULE ||
		 mem_read(mem, &module, sizeof module, variable->module) < 0 ||
		 mem_read(mem, &vector, sizeof vector, pointer + 8) < 0 ||
		 mem_read(mem, &block, sizeof block, vector + module * 16) < 0)
		return 0;
	return mem_read(mem, &value, sizeof value, block + variable->place) < 0 ? 0 : value;
}

/* 2.7: the context of the thread with this pointer, among all that the VM has. */
static u64 listed_context(struct mem *mem, const struct ruby_layout *layout, u64 pointer)
{
	u64 vm, link, context;

	if (mem_read(mem, &vm, sizeof vm, layout->vm) < 0)
		return 0;
	link = vm + layout->offsets.vm_threads;
	for (int i = 0; i < 4096; i++) {
		if (mem_read(mem, &link, sizeof link, link) < 0 ||
		    link == vm + layout->offsets.vm_threads)
			return 0;
		if (ruby_read(mem, &context, link - layout->offsets.thread_link,
			      layout->offsets.thread_ec) >= 0 &&
		    ruby_is_context(mem, layout, context, pointer))
			return context;
	}
	return 0;
}

static void print_code(struct mem *mem, const struct ruby_layout *layout,
		       const struct ruby_code *code, const char *kind, u32 line)
{
	static struct name_text name, qualified, file;

	ruby_code_texts(mem, layout, code, &name, &qualified, &file);
	if (qualified.length == 0)
		qualified = name;
	printf("frame %s %u %u %.*s\t%.*s\t%.*s\t%" PRIx64 "\n", kind,
	       line == RUBY_NO_LINE ? 0 : line, code->first_line, file.length, file.bytes,
	       name.length, name.bytes, qualified.length, qualified.bytes,
	       (uint64_t)ruby_code_key(mem, layout, code));
}

static void print_leaf(struct mem *mem, const struct ruby_layout *layout,
		       const struct ruby_frame *frame, u64 pc, u32 *out_line)
{
	struct ruby_leaves leaves;
	const struct ruby_leaf *leaf;
	struct ruby_code code;

	ruby_leaves_read(mem, layout, frame, &leaves);
	leaf = ruby_leaves_choose(layout, &leaves, pc);
	*out_line = ruby_line_of(mem, layout, frame, leaf->stands_at);
	if (ruby_code_of_leaf(mem, layout, leaf, &code) >= 0)
		print_code(mem, layout, &code, "leaf", 0);
}

static void print_frame(struct mem *mem, const struct ruby_walk *walk,
			const struct ruby_frame *frame, u64 pc)
{
	static const char *const kinds[] = { "?", "iseq", "c", "block_c", "base" };
	struct ruby_code code;
	char kind[16];
	u32 line = RUBY_NO_LINE;

	if (frame->kind == RUBY_FRAME_ISEQ) {
		line = ruby_line_of(mem, walk->layout, frame, 0);
		if (walk->count == 1)
			print_leaf(mem, walk->layout, frame, pc, &line);
	}
	snprintf(kind, sizeof kind, "%s%s%s", kinds[frame->kind], frame->is_last ? "*" : "",
		 frame->is_repeated ? "+" : "");
	if (ruby_code_read(mem, walk->layout, frame, &code) >= 0)
		print_code(mem, walk->layout, &code, kind, line);
	else
		printf("frame %s 0 0 \t\t\t0\n", kind);
}

static void print_thread(struct mem *mem, const struct ruby_layout *layout, pid_t tid)
{
	struct user_regs_struct registers;
	struct ruby_walk walk;
	struct ruby_frame frame;
	enum ruby_step step = RUBY_END;
	u64 context;

	if (ptrace(PTRACE_GETREGS, tid, NULL, &registers) < 0)
		return;
	context = layout->context_means == RUBY_CONTEXT_BY_LIST
			  ? listed_context(mem, layout, registers.fs_base)
			  : own_variable(mem, &layout->context, registers.fs_base);
	if (context == 0)
		return;
	printf("thread %d\n", (int)tid);
	if (!ruby_is_context(mem, layout, context, registers.fs_base) ||
	    ruby_begin(mem, layout, context, &walk) < 0) {
		printf("no context\n");
		return;
	}
	for (int i = 0; i < FRAMES_MAX; i++) {
		step = ruby_next(mem, &walk, &frame);
		if (step != RUBY_FRAME)
			break;
		print_frame(mem, &walk, &frame, registers.rip);
	}
	printf("%s\n", step == RUBY_END ? "end" : "broken");
}

static int is_there(const char *path, uint64_t *out_bias, pid_t pid)
{
	struct maps *maps;
	struct error err;
	struct load_bias bias;
	int found = 0;

	load_bias_read(path, &bias);
	if (maps_read(pid, &maps, &err) < 0)
		return 0;
	for (size_t i = 0; i < maps_count(maps) && !found; i++) {
		const struct mapping *mapping = maps_at(maps, i);

		found = mapping->is_executable && strcmp(mapping->path, path) == 0 &&
			load_bias_of(&bias, mapping->start, mapping->file_offset, out_bias);
	}
	maps_free(maps);
	return found;
}

/* Each thread in turn: the others run on.  0, or REFUSED. */
static int walk_thread(struct mem *mem, const struct ruby_layout *layout, pid_t tid)
{
	int status;

	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) < 0)
		return errno == EPERM ? REFUSED : 0; /* it may have ended */
	if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) == 0 &&
	    waitpid(tid, &status, __WALL) == tid && WIFSTOPPED(status))
		print_thread(mem, layout, tid);
	ptrace(PTRACE_DETACH, tid, NULL, NULL);
	return 0;
}

static int walk_process(struct mem *mem, const struct ruby_layout *layout)
{
	char path[64];
	struct dirent *entry;
	DIR *folder;
	int rc = 0;

	snprintf(path, sizeof path, "/proc/%d/task", (int)mem->pid);
	folder = opendir(path);
	if (!folder)
		return fail(path, strerror(errno));
	while (rc == 0 && (entry = readdir(folder)) != NULL) {
		if (entry->d_name[0] != '.')
			rc = walk_thread(mem, layout, atoi(entry->d_name));
	}
	closedir(folder);
	printf("walked %lu\n", mem->reads);
	fflush(stdout);
	return rc;
}

/* Walks once for each line on standard input. */
int main(int argc, char **argv)
{
	struct mem mem = { 0 };
	struct error err = { "" };
	struct ruby_image *image;
	struct ruby_layout layout;
	uint64_t bias;
	int byte, rc = 0;

	if (argc != 3)
		return fail("usage", "ruby_stacks PID FILE");
	mem.pid = atoi(argv[1]);
	if (ruby_image_read(argv[2], &image, &err) < 0)
		return fail(argv[2], err.text);
	if (ruby_image_why_not(image))
		return fail(argv[2], ruby_image_why_not(image));
	if (!is_there(argv[2], &bias, mem.pid))
		return fail(argv[2], "is not mapped");
	ruby_image_layout(image, bias, &layout);
	while (rc == 0 && (byte = getchar()) != EOF) {
		mem.reads = 0;
		if (byte == '\n')
			rc = walk_process(&mem, &layout);
	}
	ruby_image_free(image);
	return rc;
}
