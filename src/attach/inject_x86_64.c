/*
 * inject - makes a thread of the target start a thread that loads the agent: it maps memory, we
 * write there what the new thread needs, and it executes clone(2) (stub.h).
 */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attach/attach.h"
#include "attach/attach_internal.h"
#include "attach/control_block.h"
#include "attach/hold.h"
#include "attach/libc.h"
#include "attach/peek.h"
#include "attach/status.h"
#include "attach/task.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/monotonic.h"
#include "target/maps.h"

#define PAGE 4096
/*
 * The data: the block, the first thread's stack, then its TLS vector, variables and control
 * block.
 */
#define STACK_END  (PAGE + 65536)
#define CODE_BYTES PAGE
#define ROUNDS     500 /* attempts on all threads, until one is suitable */
#define ROUND_NS   1000000

static_assert(sizeof(struct stub_block) <= PAGE, "the block has a page");
static_assert(sizeof(struct stub_key) == 16, "as libc's");

/* Offsets in the data, and its size. */
struct places {
	size_t vector, thread, bytes;
};

static size_t whole_pages(size_t bytes)
{
	return (bytes + PAGE - 1) & ~(size_t)(PAGE - 1);
}

static struct places places_of(const struct attach_libc *libc)
{
	struct places places = { .vector = STACK_END };

	places.thread = whole_pages(places.vector + tls_blocks_vector_bytes(&libc->tls) +
				    control_block_below(libc));
	places.bytes = whole_pages(places.thread + control_block_bytes(libc));
	return places;
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
		.call_tls_dtors = libc->call_tls_dtors,
		.getspecific = libc->getspecific,
		.setspecific = libc->setspecific,
		.keys = (const struct stub_key *)(uintptr_t)libc->keys,
		.code = attach->code,
		.data = attach->data,
		.code_bytes = CODE_BYTES,
		.data_bytes = places_of(libc).bytes,
		.first_thread = first_thread,
		.object_fd = -1,
		.patience_ms = ATTACH_PATIENCE_MS,
		.thread_name = ATTACH_THREAD,
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

/* Writes the first thread's variables, its TLS vector, and its control block. */
static int write_thread(const struct attach *attach, const struct control_block_input *input)
{
	const struct tls_blocks *tls = &input->libc->tls;
	const uint64_t processor = control_block_processor_place(input);
	const size_t vector_bytes = tls_blocks_vector_bytes(tls);
	const int32_t no_processor = -1; /* RSEQ_CPU_ID_UNINITIALIZED */
	CLEANUP(freep) uint8_t *vector = xmalloc(vector_bytes);
	CLEANUP(freep) uint8_t *block = xmalloc(control_block_bytes(input->libc));

	tls_blocks_write_vector(tls, input->thread_pointer, vector);
	int rc = poke(attach->pid, input->vector, vector, vector_bytes);

	for (size_t i = 0; rc == 0 && i < tls->count; i++) {
		const struct tls_block *variables = &tls->blocks[i];

		if (variables->image_bytes > 0)
			rc = poke(attach->pid, input->thread_pointer - variables->offset,
				  variables->image, variables->image_bytes);
	}
	control_block_write(input, block);
	if (rc == 0)
		rc = poke(attach->pid, input->thread_pointer, block,
			  control_block_bytes(input->libc));
	if (rc == 0 && processor != 0)
		rc = poke(attach->pid, processor, &no_processor, sizeof no_processor);
	return rc;
}

/* Writes these, the block, and the address to which the clone returns. */
static int write_data(struct attach *attach, const struct attach_libc *libc,
		      const struct hold *hold, uint64_t *out_thread, uint64_t *out_tid_place)
{
	const struct places places = places_of(libc);
	struct control_block_input input = {
		.libc = libc,
		.thread_pointer = attach->data + places.thread,
		.vector = attach->data + places.vector,
	};
	struct stub_block block;
	const bool is_main = hold->tid == hold->pid;
	const uint64_t first_entry =
		attach->code + ((uintptr_t)stub_first - (uintptr_t)stub_begin);
	uint64_t guards[2];
	int rc = peek(attach->pid, hold->stopped.fs_base + 40, guards, sizeof guards);

	if (rc < 0)
		return rc;
	input.stack_guard = guards[0];
	input.pointer_guard = guards[1];
	*out_thread = input.thread_pointer;
	*out_tid_place = control_block_tid_place(&input);
	fill_block(attach, libc, is_main ? hold->stopped.fs_base : 0, *out_tid_place, &block);
	rc = write_thread(attach, &input);
	if (rc == 0)
		rc = poke(attach->pid, attach->data, &block, sizeof block);
	if (rc == 0)
		rc = poke(attach->pid, attach->data + STACK_END - 64, &first_entry,
			  sizeof first_entry);
	return rc;
}

static int start_thread(struct attach *attach, struct hold *hold, uint64_t thread,
			uint64_t tid_place, struct error *err)
{
	const uint64_t arguments[6] = {
		ATTACH_CLONE_FLAGS, attach->data + STACK_END - 64, 0, tid_place, thread, 0
	};
	int64_t got;
	const int rc = hold_call(hold, SYS_clone, arguments, attach->data, &got, err);

	if (rc == 0 && got < 0)
		return error_errno(err, (int)got, "it cannot have another thread");
	return rc;
}

/* All that is executed on the held thread. */
static int inject(struct attach *attach, struct hold *hold, const struct attach_libc *libc,
		  struct error *err)
{
	const size_t data_bytes = places_of(libc).bytes;
	uint64_t thread, tid_place;
	int rc = map_into(hold, CODE_BYTES, PROT_READ | PROT_EXEC, &attach->code, err);

	if (rc == 0)
		rc = map_into(hold, data_bytes, PROT_READ | PROT_WRITE, &attach->data, err);
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
		unmap(hold, attach->data, data_bytes);
		unmap(hold, attach->code, CODE_BYTES);
	}
	return rc;
}

/* -EAGAIN: this thread cannot be used now (*out_why). */
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

/* Tries the main thread first: its thread pointer is useful to the agent. */
int attach_inject(struct attach *attach, const struct attach_libc *libc, struct error *err)
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
		attach_pause_ns(ROUND_NS);
	}
	return error_set(err, -ENOTSUP,
			 "none of its threads can be used now (the last one: %s); try again",
			 why);
}
