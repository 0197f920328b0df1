#include "attach/attach.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "attach/control_block.h"
#include "attach/hold.h"
#include "attach/judge.h"
#include "attach/libc.h"
#include "attach/peek.h"
#include "attach/status.h"
#include "attach/stub.h"
#include "attach/task.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/monotonic.h"
#include "target/maps.h"

#define PAGE 4096
/* Of the data: the block, the first thread's stack, its variables, its control block. */
#define VECTOR_OFFSET (PAGE - 256)
#define STACK_END     (PAGE + 65536)
#define THREAD_OFFSET (STACK_END + CONTROL_BLOCK_BELOW)
#define DATA_BYTES    (THREAD_OFFSET + 16384 + PAGE)
#define CODE_BYTES    PAGE
#define ROUNDS        500 /* over all threads, until one is fit */
#define ROUND_NS      1000000
#define PATIENCE_MS   5000
#define NS_PER_MS     1000000ULL

static_assert(sizeof(struct stub_block) <= VECTOR_OFFSET, "the block has a page");

struct attach {
	pid_t pid;
	uint64_t code, data; /* in the target */
	uint64_t stopped_ns;
	bool was_mapped;
	const struct attach_options *options; /* until attach_begin() returns */
};

static uint64_t block_place(const struct attach *attach, size_t offset)
{
	return attach->data + offset;
}

#define BLOCK_PLACE(attach, member) block_place(attach, offsetof(struct stub_block, member))

static void pause_ns(long ns)
{
	nanosleep(&(struct timespec){ .tv_nsec = ns }, NULL);
}

static void fill_block(const struct attach *attach, const struct attach_libc *libc,
		       uint64_t main_thread_pointer, uint64_t first_thread,
		       struct stub_block *block)
{
	*block = (struct stub_block){
		.pthread_create = libc->pthread_create,
		.pthread_detach = libc->pthread_detach,
		.dlopen = libc->dlopen,
		.dlsym = libc->dlsym,
		.dlerror = libc->dlerror,
		.munmap = libc->munmap,
		.code = attach->code,
		.data = attach->data,
		.code_bytes = CODE_BYTES,
		.data_bytes = DATA_BYTES,
		.first_thread = first_thread,
		.object_fd = -1,
		.patience_ms = PATIENCE_MS,
		.object_name = ATTACH_FILE,
		.soname = ATTACH_OBJECT,
		.entry_name = ATTACH_ENTRY,
		.order = { .bytes = sizeof(struct attach_order),
			   .wish = attach->options->is_leaving ? ATTACH_LEAVE : ATTACH_ENTER,
			   .main_thread = main_thread_pointer != 0,
			   .follows_children = attach->options->follows_children,
			   .main_thread_pointer = main_thread_pointer },
	};
	if (!attach->options->is_leaving)
		snprintf(block->order.socket, sizeof block->order.socket, "%s",
			 attach->options->socket_path);
}

static int map_into(struct hold *hold, size_t bytes, int protection, uint64_t *out_address,
		    struct error *err)
{
	const uint64_t arguments[6] = {
		0, bytes, (uint64_t)protection, MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1, 0
	};
	int64_t got;
	const int rc = hold_call(hold, SYS_mmap, arguments, 0, &got, err);

	if (rc < 0)
		return rc;
	if (got < 0)
		return error_errno(err, (int)got, "it cannot map memory");
	*out_address = (uint64_t)got;
	return 0;
}

static void unmap(struct hold *hold, uint64_t address, size_t bytes)
{
	const uint64_t arguments[6] = { address, bytes };
	int64_t got;

	if (address != 0)
		hold_call(hold, SYS_munmap, arguments, 0, &got, NULL);
}

/* The block, the variables and the control block of the first thread. */
static int write_data(struct attach *attach, const struct attach_libc *libc,
		      const struct hold *hold, uint64_t *out_thread, uint64_t *out_tid_place)
{
	const uint64_t thread = attach->data + THREAD_OFFSET;
	struct control_block_input input = {
		.libc = libc,
		.thread_pointer = thread,
		.vector = attach->data + VECTOR_OFFSET,
	};
	uint8_t control_block[16384];
	struct stub_block block;
	const bool is_main = hold->tid == hold->pid;
	const uint64_t first_entry =
		attach->code + ((uintptr_t)stub_first - (uintptr_t)stub_begin);
	uint64_t guards[2];
	int rc = peek(attach->pid, hold->stopped.fs_base + 40, guards, sizeof guards);

	input.stack_guard = guards[0];
	input.pointer_guard = guards[1];
	if (rc < 0)
		return rc;
	control_block_write(&input, control_block);
	*out_thread = thread;
	*out_tid_place = control_block_tid_place(&input);
	fill_block(attach, libc, is_main ? hold->stopped.fs_base : 0, *out_tid_place, &block);
	rc = poke(attach->pid, thread, control_block, control_block_bytes(libc));
	if (rc == 0)
		rc = poke(attach->pid, thread - libc->tls_offset, libc->tls_image,
			  libc->tls_image_bytes);
	if (rc == 0)
		rc = poke(attach->pid, attach->data, &block, sizeof block);
	/* What the clone returns to. */
	if (rc == 0)
		rc = poke(attach->pid, attach->data + STACK_END - 64, &first_entry,
			  sizeof first_entry);
	return rc;
}

static int start_thread(struct attach *attach, struct hold *hold, uint64_t thread,
			uint64_t tid_place, struct error *err)
{
	const uint64_t flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND |
			       CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS |
			       CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID;
	const uint64_t arguments[6] = { flags,  attach->data + STACK_END - 64,
					0,      tid_place,
					thread, 0 };
	int64_t got;
	const int rc = hold_call(hold, SYS_clone, arguments, attach->data, &got, err);

	if (rc == 0 && got < 0)
		return error_errno(err, (int)got, "it cannot have another thread");
	return rc;
}

/* Everything that is executed on the thread that is held. */
static int inject(struct attach *attach, struct hold *hold, const struct attach_libc *libc,
		  struct error *err)
{
	uint64_t thread, tid_place;
	int rc = map_into(hold, CODE_BYTES, PROT_READ | PROT_EXEC, &attach->code, err);

	if (rc == 0)
		rc = map_into(hold, DATA_BYTES, PROT_READ | PROT_WRITE, &attach->data, err);
	if (rc == 0)
		rc = hold_write_code(hold, attach->code, stub_begin,
				     (size_t)(stub_end - stub_begin), err);
	if (rc == 0) {
		rc = write_data(attach, libc, hold, &thread, &tid_place);
		if (rc < 0)
			error_errno(err, rc, "cannot write memory of process %d",
				    (int)attach->pid);
	}
	if (rc == 0)
		rc = start_thread(attach, hold, thread, tid_place, err);
	if (rc < 0) {
		unmap(hold, attach->data, DATA_BYTES);
		unmap(hold, attach->code, CODE_BYTES);
	}
	return rc;
}

/* -EAGAIN: not on this thread, at this moment. */
static int try_thread(struct attach *attach, pid_t tid, bool is_alone, const struct maps *maps,
		      const struct attach_libc *libc, const char **out_why, struct error *err)
{
	const uint64_t begin_ns = monotonic_ns();
	struct attach_status status;
	struct hold hold;

	*out_why = "it has ended";
	if (attach_status_read(attach->pid, tid, &status) < 0)
		return -EAGAIN;
	*out_why = "it waits where it cannot be interrupted";
	if (status.state != 'R' && status.state != 'S')
		return -EAGAIN;
	int rc = hold_begin(attach->pid, tid, &hold, out_why, err);

	if (rc < 0)
		return rc;
	rc = hold_borrow(&hold, libc, maps, is_alone, out_why, err);
	if (rc == 0)
		rc = inject(attach, &hold, libc, err);
	hold_end(&hold);
	attach->stopped_ns = monotonic_ns() - begin_ns;
	return rc;
}

/* The main thread is the first of them: its thread pointer is of use to the agent. */
static int try_threads(struct attach *attach, const struct attach_libc *libc, struct error *err)
{
	const char *why = "";

	for (int round = 0; round < ROUNDS; round++) {
		CLEANUP(maps_freep) struct maps *maps = NULL;
		CLEANUP(freep) pid_t *tids = NULL;
		size_t count;
		int rc = task_list_all(attach->pid, &tids, &count);

		if (rc == 0)
			rc = maps_read(attach->pid, &maps, NULL);

		if (rc < 0)
			return error_errno(err, rc, "its threads cannot be listed");
		for (size_t i = 0; i < count; i++) {
			rc = try_thread(attach, tids[i], count == 1, maps, libc, &why, err);
			if (rc != -EAGAIN)
				return rc;
		}
		pause_ns(ROUND_NS);
	}
	return error_set(err, -ENOTSUP, "none of its threads can be used (the last one: %s)",
			 why);
}

static int copy_file(int from, int to)
{
	char buffer[65536];
	ssize_t got;

	while ((got = read(from, buffer, sizeof buffer)) > 0) {
		if (write(to, buffer, (size_t)got) != got)
			return errno != 0 ? -errno : -EIO;
	}
	return got < 0 ? -errno : 0;
}

/* The agent's file into the memfd of the target. */
static int fill_object(const struct attach *attach, struct error *err)
{
	char path[64], theirs[STUB_PATH_SIZE] = { 0 };
	int32_t fd;
	int rc = peek(attach->pid, BLOCK_PLACE(attach, object_fd), &fd, sizeof fd);

	if (rc < 0)
		return error_errno(err, rc, "it has ended");
	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)attach->pid, fd);
	CLEANUP(closep) int from = open(attach->options->agent_path, O_RDONLY | O_CLOEXEC);
	CLEANUP(closep) int to = open(path, O_WRONLY | O_CLOEXEC);

	if (from < 0)
		return error_errno(err, -errno, "cannot read %s", attach->options->agent_path);
	rc = to < 0 ? -errno : copy_file(from, to);
	if (rc < 0)
		return error_errno(err, rc, "cannot write the agent for process %d",
				   (int)attach->pid);
	snprintf(theirs, sizeof theirs, "/proc/self/fd/%d", fd);
	rc = poke(attach->pid, BLOCK_PLACE(attach, path), theirs, sizeof theirs);
	return rc < 0 ? error_errno(err, rc, "it has ended") : 0;
}

static int say(const struct attach *attach, uint32_t go)
{
	return poke(attach->pid, BLOCK_PLACE(attach, go), &go, sizeof go);
}

/* Why the stub failed. */
static int explain_failure(const struct attach *attach, struct error *err)
{
	struct stub_block block;
	const int rc = peek(attach->pid, attach->data, &block, sizeof block);

	if (rc < 0)
		return error_errno(err, rc, "it has ended");
	block.error[sizeof block.error - 1] = '\0';
	if (block.result > 0)
		return error_errno(err, -block.result, "it cannot have another thread");
	if (block.was_mapped)
		return error_set(err, -ENOTSUP,
				 "an agent of another version of fathom is in it already");
	return error_set(err, -ENOTSUP, "it cannot load the agent (%s)",
			 block.error[0] != '\0' ? block.error : "no memfd_create()");
}

/* Until the agent's entry is being called. */
static int wait_for_entry(struct attach *attach, struct error *err)
{
	const uint64_t until_ns = monotonic_ns() + 2 * PATIENCE_MS * NS_PER_MS;
	bool is_filled = false;
	uint32_t state;

	while (monotonic_ns() < until_ns) {
		int rc = peek(attach->pid, BLOCK_PLACE(attach, state), &state, sizeof state);

		if (rc < 0)
			return error_errno(err, rc, "it has ended");
		if (state == STUB_FAILED)
			return explain_failure(attach, err);
		if (state == STUB_ENTERING || state == STUB_DONE) {
			uint32_t was_mapped = 0;

			peek(attach->pid, BLOCK_PLACE(attach, was_mapped), &was_mapped,
			     sizeof was_mapped);
			attach->was_mapped = was_mapped;
			return 0;
		}
		if (state == STUB_WANTS_OBJECT && !is_filled) {
			is_filled = true;
			rc = attach->options->is_leaving
				     ? error_set(err, -ENOENT, "it has no agent")
				     : fill_object(attach, err);
			say(attach, rc == 0 ? STUB_GO : STUB_LEAVE);
			if (rc < 0)
				return rc;
		}
		pause_ns(200000);
	}
	return error_set(err, -ENOTSUP,
			 "it loads no library now: another of its threads is at it");
}

static int attach_run(struct attach *attach, struct error *err)
{
	CLEANUP(maps_freep) struct maps *maps = NULL;
	struct attach_libc libc;
	int rc = maps_read(attach->pid, &maps, err);

	if (rc == 0)
		rc = judge_process(attach->pid, maps, err);
	if (rc == 0)
		rc = attach_libc_find(attach->pid, maps, &libc, err);
	if (rc < 0)
		return rc;
	rc = try_threads(attach, &libc, err);
	attach_libc_done(&libc);
	return rc < 0 ? rc : wait_for_entry(attach, err);
}

int attach_begin(const struct attach_options *options, struct attach **out_attach,
		 struct error *err)
{
	struct attach *attach = xzalloc(sizeof *attach);

	attach->pid = options->pid;
	attach->options = options;
	const int rc = attach_run(attach, err);

	attach->options = NULL;
	if (rc < 0) {
		attach_end(attach);
		return rc;
	}
	*out_attach = attach;
	return 0;
}

static int explain_result(int32_t result, struct error *err)
{
	switch (result) {
	case ATTACH_ENTERED:
	case ATTACH_HAS_LEFT:
		return 1;
	case ATTACH_IS_SAMPLED:
		return error_set(err, -EBUSY, "another fathom records it");
	case ATTACH_TRAP_USED:
		return error_set(err, -ENOTSUP, "it uses SIGTRAP itself");
	case ATTACH_NO_ANSWER:
		return error_set(err, -ENOTSUP, "its agent does not reach us");
	default:
		return error_set(err, -ENOTSUP,
				 "an agent of another version of fathom is in it already");
	}
}

int attach_look(struct attach *attach, struct error *err)
{
	struct stub_block block;
	const int rc = peek(attach->pid, attach->data, &block, sizeof block);

	if (rc < 0)
		return error_errno(err, rc, "it has ended");
	return block.state == STUB_DONE ? explain_result(block.result, err) : 0;
}

int attach_take_connection(const struct attach *attach)
{
	int32_t theirs;
	const int rc =
		peek(attach->pid, BLOCK_PLACE(attach, connection), &theirs, sizeof theirs);
	CLEANUP(closep) int process = (int)syscall(SYS_pidfd_open, attach->pid, 0);

	if (rc < 0)
		return rc;
	const int fd = (int)syscall(SYS_pidfd_getfd, process, theirs, 0);

	return fd < 0 ? -errno : fd;
}

bool attach_found_agent(const struct attach *attach)
{
	return attach->was_mapped;
}

uint64_t attach_stopped_ns(const struct attach *attach)
{
	return attach->stopped_ns;
}

void attach_end(struct attach *attach)
{
	if (attach != NULL && attach->data != 0)
		say(attach, STUB_LEAVE);
	free(attach);
}
