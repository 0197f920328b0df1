/*
 * The memory of a process that is read from outside, with any words in it.
 *
 * Real ones are read: a Python and a Ruby, each with threads that wait for each other's locks.  An
 * input says which of the two, and what words of its pages are others, by the order in which pages
 * were first read.  Whatever these say, all threads' stacks, locks and regions are read to an end,
 * and no stack is longer than the most.  The processes do not notice.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/table.h"
#include "remote/memory.h"
#include "remote/open.h"
#include "remote/process.h"
#include "remote/regions.h"
#include "remote/snapshot.h"

#define PAGE_WORDS (MEMORY_PAGE / 8)
/* What a long run has read is kept, up to so many pages; others are as they are. */
#define PAGES_MOST 4096U
/* Names are kept as long as a process is open. */
#define RUNS_OPEN 2000U

/* Of an input behind its first byte, one after the other. */
struct change {
	uint16_t page, word, other_page;
	uint8_t kind;
	uint64_t value;
};
#define CHANGE_BYTES 15U

enum { CHANGE_SET, CHANGE_ADD, CHANGE_COPY, CHANGE_POINT, CHANGE_KINDS };

struct page {
	uint64_t address;
	uint64_t words[PAGE_WORDS];
};

struct target {
	const char *const *arguments; /* and the program, in front */
	pid_t pid;                    /* -1: there is none */
	struct remote remote;
	struct memory_source source;
	struct table numbers; /* of pages, from 1, by address */
	struct page *pages;
	size_t page_count;
	size_t first_count; /* those that are read of a process that is as it was: inputs change these */
	uint32_t runs; /* since it was opened */
	const uint8_t *changes;
	size_t changes_size;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const python[] = {
	"/usr/bin/python3", "-c",
	"import threading, time, sys, os\n"
	"lock, other, held = threading.Lock(), threading.RLock(), threading.Event()\n"
	"def hold(text='text', numbers=[1, 2.5, {3: (4, 5)}]):\n"
	"    with lock, other:\n"
	"        held.set()\n"
	"        time.sleep(1000000)\n"
	"def wait_for_lock():\n"
	"    with lock:\n"
	"        pass\n"
	"def wait_for_other(depth=20):\n"
	"    wait_for_other(depth - 1) if depth else other.acquire()\n"
	"threads = [threading.Thread(target=f, name=f.__name__) for f in (hold, wait_for_lock, "
	"wait_for_other)]\n"
	"for thread in threads:\n"
	"    thread.start()\n"
	"    held.wait()\n"
	"os.write(1, b'x')\n"
	"threads[0].join()\n",
	NULL
};
static const char *const ruby[] = {
	"/usr/bin/ruby", "-e",
	"lock, queue = Mutex.new, Queue.new\n"
	"define_method(:deep) { |n| n > 0 ? deep(n - 1) : lock.synchronize { } }\n"
	"threads = [Thread.new { Thread.current.name = 'a name of twenty bytes'; "
	"lock.synchronize { queue << 1; sleep } },\n"
	"           Thread.new { queue.pop; queue << 1; [1].each { deep(20) } }, Thread.new { "
	"lock.lock }]\n"
	"queue.pop\n"
	"$stdout.syswrite('x')\n"
	"threads[0].join\n",
	NULL
};
static struct target targets[] = { { .arguments = python }, { .arguments = ruby } };
#define TARGETS (sizeof targets / sizeof *targets)

static struct change change_at(const struct target *target, size_t i)
{
	const uint8_t *bytes = target->changes + i * CHANGE_BYTES;
	struct change change;

	memcpy(&change.page, bytes, 2);
	memcpy(&change.word, bytes + 2, 2);
	memcpy(&change.other_page, bytes + 4, 2);
	change.kind = bytes[6] % CHANGE_KINDS;
	memcpy(&change.value, bytes + 7, 8);
	return change;
}

/* The page, numbered when it is first asked for; NULL: it cannot be read, or there are too many. */
static struct page *page_of(struct target *target, uint64_t address)
{
	uint64_t number = 0;
	bool is_lasting;

	if (table_get(&target->numbers, 0, address, &number))
		return &target->pages[number - 1];
	if (target->page_count == PAGES_MOST)
		return NULL;
	struct page *page = &target->pages[target->page_count];

	if (!target->source.fetch(target->source.context, address, page->words, &is_lasting))
		return NULL;
	page->address = address;
	*table_at(&target->numbers, 0, address, NULL) = ++target->page_count;
	return page;
}

static uint64_t changed_word(const struct target *target, const struct change *change,
			     uint64_t word)
{
	const struct page *other = &target->pages[change->other_page % target->first_count];

	switch (change->kind) {
	case CHANGE_SET:
		return change->value;
	case CHANGE_ADD:
		return word + (uint64_t)(int64_t)(int8_t)change->value;
	case CHANGE_COPY:
		return other->words[change->value % PAGE_WORDS];
	default:
		return other->address + change->value % MEMORY_PAGE;
	}
}

static bool fetch(void *context, uint64_t address, void *out_page, bool *out_is_lasting)
{
	struct target *target = context;
	const struct page *page = page_of(target, address);

	if (!page)
		return target->source.fetch(target->source.context, address, out_page,
					    out_is_lasting);
	*out_is_lasting = false;
	memcpy(out_page, page->words, MEMORY_PAGE);
	for (size_t i = 0; i < target->changes_size / CHANGE_BYTES; i++) {
		const struct change change = change_at(target, i);
		const size_t at = change.word % PAGE_WORDS * 8;
		uint64_t word;

		if (&target->pages[change.page % target->first_count] != page)
			continue;
		memcpy(&word, (uint8_t *)out_page + at, 8);
		word = changed_word(target, &change, word);
		memcpy((uint8_t *)out_page + at, &word, 8);
	}
	return true;
}

/* Blocked for good, or -1: it is not installed. */
static pid_t start(const char *const *arguments)
{
	int ends[2];
	char byte;

	if (pipe2(ends, O_CLOEXEC) < 0)
		abort();
	const pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(ends[1], STDOUT_FILENO);
		execv(arguments[0], (char *const *)(uintptr_t)arguments);
		_exit(127);
	}
	close(ends[1]);
	const bool is_there = read(ends[0], &byte, 1) == 1;

	close(ends[0]);
	return is_there ? pid : -1;
}

static void open_target(struct target *target)
{
	struct error err;

	if (remote_open(target->pid, NULL, &target->remote, &err) < 0)
		abort();
	if (!target->remote.python && !target->remote.ruby)
		abort();
	target->source = target->remote.mem.source;
	target->remote.mem.source = (struct memory_source){ fetch, target };
	target->runs = 0;
}

static void read_all(struct target *target, uint64_t area)
{
	struct remote *remote = &target->remote;
	struct snapshot snapshot;
	struct error err;

	if (snapshot_read(remote, &snapshot, &err) < 0)
		abort(); /* it runs, and is our child */
	size_t *circle = xreallocarray(NULL, snapshot.count, sizeof *circle);

	for (size_t i = 0; i < snapshot.count; i++) {
		struct remote_thread *thread = &snapshot.threads[i];

		remote_regions_add(remote, area, thread->inner_tid, &thread->stack);
		if (thread->stack.count > STACK_FRAMES_MAX)
			abort();
		if (snapshot_find_deadlock(&snapshot, i, circle) > snapshot.count)
			abort();
	}
	free(circle);
	snapshot_done(&snapshot);
	memory_forget(&remote->mem);
	remote->local_count = 0;
}

static void begin(struct target *target)
{
	target->pid = start(target->arguments);
	if (target->pid < 0)
		return;
	target->pages = xreallocarray(NULL, PAGES_MOST, sizeof *target->pages);
	open_target(target);
	read_all(target, 0);
	target->first_count = target->page_count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 1)
		return 0;
	struct target *target = &targets[data[0] % TARGETS];

	if (target->pid == 0)
		begin(target);
	if (target->pid < 0)
		return 0;
	if (target->runs++ == RUNS_OPEN) {
		remote_close(&target->remote);
		open_target(target);
	}
	target->changes = data + 1;
	target->changes_size = size - 1;
	target->remote.has_locals = (data[0] & 0x80) != 0;
	read_all(target, target->pages[data[0] % target->first_count].address);
	return 0;
}
