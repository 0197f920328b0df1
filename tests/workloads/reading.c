/* reading - 70 % of the CPU time in read(2) of /dev/zero, 30 % in user code. */
#include "truth.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define BUFFER_BYTES (8u << 20)

static char buffer[BUFFER_BYTES];
static volatile uint64_t sink;

KEEP static uint64_t compute(uint64_t n)
{
	uint64_t x = n;

	while (n--)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

/* The addition keeps the call from becoming a jump. */
KEEP static ssize_t read_zeros(int fd, size_t bytes)
{
	return read(fd, buffer, bytes) + 1;
}

int main(int argc, char **argv)
{
	uint64_t budget = truth_budget_ns(argc, argv, 1500), computed = 0, read_ns = 0;
	int fd = open("/dev/zero", O_RDONLY);

	if (fd < 0) {
		perror("/dev/zero");
		return 2;
	}
	read_zeros(fd, BUFFER_BYTES); /* faults the buffer in: that is not part of the phases */
	uint64_t before = truth_thread_cpu_ns();
	for (uint64_t turn = 0; before < budget; turn++) {
		if (read_ns * 3 < computed * 7) {
			/* Phases of one length fall in step with the samples: on one machine by 15 points. */
			sink = (uint64_t)read_zeros(
				fd, truth_vary(turn, BUFFER_BYTES / 8, BUFFER_BYTES * 7 / 8));
			uint64_t after = truth_thread_cpu_ns();
			read_ns += after - before;
			before = after;
		} else {
			sink = compute(truth_vary(turn, 50000, 150000));
			uint64_t after = truth_thread_cpu_ns();
			computed += after - before;
			before = after;
		}
	}
	truth_add(TRUTH_TOTAL, "read_zeros", read_ns);
	truth_add(TRUTH_TOTAL, "compute", computed);
	truth_print();
	return 0;
}
