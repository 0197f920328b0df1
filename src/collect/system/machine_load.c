#include "collect/system/machine_load.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	/* user nice system idle iowait irq softirq steal; guests are in user already (proc(5)). */
	FIELDS = 8,
	IDLE = 3,
	IO_WAIT = 4,
	LINE_BYTES = 256,
};

bool machine_load_parse(const char *text, uint64_t tick_ns, struct machine_load *out_load)
{
	struct machine_load load = { 0 };

	*out_load = load;
	if (strncmp(text, "cpu ", strlen("cpu ")) != 0)
		return false;
	char *end = (char *)text + strlen("cpu ");

	for (int field = 0; field < FIELDS; field++) {
		const char *at = end;
		const uint64_t ns = strtoull(at, &end, 10) * tick_ns;

		if (end == at)
			return false;
		load.all_ns += ns;
		if (field == IDLE || field == IO_WAIT)
			load.idle_ns += ns;
	}
	*out_load = load;
	return true;
}

bool machine_load_read(struct machine_load *out_load)
{
	char line[LINE_BYTES];
	const long ticks = sysconf(_SC_CLK_TCK);
	const int fd = open("/proc/stat", O_RDONLY | O_CLOEXEC);
	const ssize_t taken = fd < 0 ? -1 : read(fd, line, sizeof line - 1);

	if (fd >= 0)
		close(fd);
	line[taken > 0 ? taken : 0] = '\0';
	return machine_load_parse(line, ticks > 0 ? 1000000000 / (uint64_t)ticks : 0, out_load);
}
