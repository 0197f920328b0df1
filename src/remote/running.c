#include "remote/running.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "remote/stack_copy.h"

#define PERIOD_NS   200000
#define STACK_SIZE  32768U
#define RING_PAGES  32U
#define SAMPLE_TYPE (PERF_SAMPLE_TID | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)

int running_parse(const void *record, size_t len, struct running_copy *out_copy)
{
	struct bytes b = bytes_of(record, len);
	struct stack_copy copy;

	(void)bytes_u64(&b); /* the process and the thread */
	if (stack_copy_take(&b, &copy) < 0)
		return -EBADMSG;
	*out_copy = (struct running_copy){ .registers = copy.registers, .len = copy.len };
	out_copy->stack = xmalloc(copy.len + 1);
	if (copy.len > 0)
		memcpy(out_copy->stack, copy.stack, copy.len);
	return 0;
}

static int open_event(pid_t tid, bool with_kernel)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof attr,
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.sample_period = PERIOD_NS,
		.sample_type = SAMPLE_TYPE,
		.sample_regs_user = STACK_COPY_MASK,
		.sample_stack_user = STACK_SIZE,
		.exclude_kernel = !with_kernel,
		.exclude_hv = 1,
		.wakeup_events = 1,
	};
	const int fd =
		(int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* Parses the first sample in the ring, from which nothing was consumed yet. */
static int read_first(const struct perf_event_mmap_page *page, struct running_copy *out_copy)
{
	const uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	const uint8_t *data = (const uint8_t *)page + page->data_offset;
	uint64_t at = 0;

	while (head - at >= sizeof(struct perf_event_header) && head <= page->data_size) {
		struct perf_event_header header;

		memcpy(&header, data + at, sizeof header);
		if (header.size < sizeof header || header.size > head - at)
			return -EBADMSG;
		if (header.type == PERF_RECORD_SAMPLE)
			return running_parse(data + at + sizeof header,
					     header.size - sizeof header, out_copy);
		at += header.size;
	}
	return -ETIMEDOUT;
}

int running_copy(pid_t tid, int timeout_ms, struct running_copy *out_copy)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const size_t size = page * (RING_PAGES + 1);
	CLEANUP(closep) int fd = open_event(tid, true);
	int rc = -ETIMEDOUT;
	void *ring;

	if (fd == -EACCES || fd == -EPERM)
		fd = open_event(tid, false);
	if (fd < 0)
		return fd;
	/* The kernel writes over what was not read yet, unless it can be written that it was. */
	ring = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ring == MAP_FAILED)
		return -errno;
	if (poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, timeout_ms) > 0) {
		ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
		rc = read_first(ring, out_copy);
	}
	munmap(ring, size);
	return rc;
}

void running_done(struct running_copy *copy)
{
	free(copy->stack);
	copy->stack = NULL;
}
