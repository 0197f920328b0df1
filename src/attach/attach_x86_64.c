/*
 * Attaches on x86-64: copies the agent's file into a memfd of the target, which loads it from
 * there.
 */
#include "attach/attach.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "attach/attach_internal.h"
#include "attach/filters.h"
#include "attach/judge.h"
#include "attach/libc.h"
#include "attach/peek.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/monotonic.h"
#include "target/maps.h"

#define NS_PER_MS 1000000ULL

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

/* Copies the agent's file into the target's memfd. */
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

/* Says why the stub failed. */
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

/*
 * Waits until the agent's entry is called; hands over the agent's file when the stub asks for it.
 */
static int wait_for_entry(struct attach *attach, struct error *err)
{
	const uint64_t until_ns = monotonic_ns() + 2 * ATTACH_PATIENCE_MS * NS_PER_MS;
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
		attach_pause_ns(200000);
	}
	return error_set(err, -ENOTSUP,
			 "another of its threads is loading a library; try again");
}

static int attach_run(struct attach *attach, struct error *err)
{
	CLEANUP(maps_freep) struct maps *maps = NULL;
	struct attach_libc libc;
	int rc = maps_read(attach->pid, &maps, err);

	if (rc == 0)
		rc = judge_process(attach->pid, maps, err);
	if (rc == 0)
		rc = filters_judge(attach->pid, err);
	if (rc == 0)
		rc = attach_libc_find(attach->pid, maps, &libc, err);
	if (rc < 0)
		return rc;
	rc = attach_inject(attach, &libc, err);
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
		return error_set(err, -ENOTSUP, "its agent cannot reach the recorder");
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
