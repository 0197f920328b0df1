#include "collect/events/perf_events.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/error.h"
#include "base/random.h"

/* How far a chosen period is from the nominal one, either way. */
enum { LEAST_OFF_PPM = 10000, MOST_OFF_PPM = 50000 };

static int perf_open(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	attr->size = sizeof *attr;
	int fd = (int)syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* Counts a thread, and the threads that it creates later. */
static struct perf_event_attr task_clock(void)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.inherit = 1,
		.inherit_thread = 1,
		/* A task clock counts system time all the same, and users may open it. */
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
}

int perf_open_counter(pid_t pid, bool with_descendants)
{
	struct perf_event_attr attr = task_clock();

	attr.inherit_thread = !with_descendants;
	return perf_open(&attr, pid, -1);
}

int perf_open_image_counter(pid_t tid)
{
	struct perf_event_attr attr = task_clock();

	attr.remove_on_exec = 1;
	return perf_open(&attr, tid, -1);
}

int perf_open_sampler(pid_t tid, const struct perf_sampler *sampler)
{
	struct perf_event_attr attr = task_clock();

	attr.sample_period = sampler->period_ns;
	attr.disabled = sampler->is_off;
	attr.remove_on_exec = 1;
	attr.sigtrap = 1;
	attr.sig_data = sampler->mark;
	attr.exclude_kernel = sampler->is_user_mode_only;
	return perf_open(&attr, tid, -1);
}

int perf_open_unshared(pid_t tid)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.disabled = 1,
		.remove_on_exec = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	return perf_open(&attr, tid, -1);
}

uint64_t perf_read_counter(int fd)
{
	uint64_t count = 0;

	if (read(fd, &count, sizeof count) != (ssize_t)sizeof count)
		return 0;
	return count;
}

static bool is_prime(uint64_t n)
{
	if (n < 4 || n % 2 == 0)
		return n == 2 || n == 3;
	for (uint64_t divisor = 3; divisor * divisor <= n; divisor += 2) {
		if (n % divisor == 0)
			return false;
	}
	return true;
}

uint64_t perf_choose_period(uint32_t rate_hz, uint32_t serial)
{
	const uint64_t round = 1000000000ULL / rate_hz;
	const uint64_t random = random_mixed(random_drawn() + serial);
	const uint64_t ppm = LEAST_OFF_PPM + (random >> 1) % (MOST_OFF_PPM - LEAST_OFF_PPM);
	uint64_t period =
		random & 1 ? round + round * ppm / 1000000 : round - round * ppm / 1000000;

	while (!is_prime(period))
		period--;
	return period;
}

static int perf_paranoid_level(void)
{
	int level = 2;
	FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");

	if (file == NULL)
		return level;
	if (fscanf(file, "%d", &level) != 1)
		level = 2;
	fclose(file);
	return level;
}

static bool kernel_is_at_least(unsigned int major, unsigned int minor)
{
	struct utsname name;
	unsigned int this_major, this_minor;

	if (uname(&name) < 0 || sscanf(name.release, "%u.%u", &this_major, &this_minor) != 2)
		return false;
	return this_major > major || (this_major == major && this_minor >= minor);
}

void perf_ability_explain(struct perf_ability *ability, int rc)
{
	if (rc == -EACCES || rc == -EPERM)
		snprintf(ability->why, sizeof ability->why,
			 "perf_event_open was refused (%s; kernel.perf_event_paranoid is %d): "
			 "%s",
			 strerror(-rc), perf_paranoid_level(),
			 perf_paranoid_level() > 2 ? "sysctl kernel.perf_event_paranoid=2, or "
						     "CAP_PERFMON, allows it"
						   : "a filter around fathom forbids it, as "
						     "containers have; 'docker run --cap-add "
						     "PERFMON' allows it");
	else if (rc == -ENOSYS)
		snprintf(ability->why, sizeof ability->why,
			 "this kernel, or a filter around fathom, has no perf_event_open");
	else
		snprintf(ability->why, sizeof ability->why, "perf_event_open failed (%s)",
			 strerror(-rc));
}

static int ability_try_sampler(pid_t pid, bool is_user_mode_only)
{
	const struct perf_sampler sampler = { .period_ns = 1000000000,
					      .is_user_mode_only = is_user_mode_only };
	int fd = perf_open_sampler(pid, &sampler);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

static void ability_try_sigtrap(pid_t pid, enum clock_kind clock, struct perf_ability *ability)
{
	if (!kernel_is_at_least(5, 18)) {
		snprintf(ability->why, sizeof ability->why,
			 "perf events that trap (sigtrap) are safe from Linux 5.18 on");
		return;
	}
	int rc = clock == CLOCK_KIND_USER ? -EACCES : ability_try_sampler(pid, false);

	ability->can_see_kernel = rc == 0;
	if (rc < 0)
		rc = ability_try_sampler(pid, true);
	if (rc < 0) {
		perf_ability_explain(ability, rc);
		return;
	}
	ability->can_sigtrap = true;
	if (ability->can_see_kernel || clock == CLOCK_KIND_USER)
		snprintf(ability->why, sizeof ability->why,
			 "perf events on each thread, opened from outside");
	else
		snprintf(ability->why, sizeof ability->why,
			 "perf events on each thread, opened from outside; system time is not "
			 "sampled (kernel.perf_event_paranoid is %d: 1, or CAP_PERFMON, allows "
			 "it)",
			 perf_paranoid_level());
}

/* Timers sample system time in addition to events that count user mode only. */
static void ability_add_kernel_ticks(struct perf_ability *ability)
{
	ability->has_kernel_ticks = true;
	snprintf(ability->why, sizeof ability->why,
		 "perf events on each thread, opened from outside; system time is sampled by "
		 "timers, at the kernel's ticks, where a thread has much of it "
		 "(kernel.perf_event_paranoid is %d: 1, or CAP_PERFMON, allows events to count "
		 "it)",
		 perf_paranoid_level());
}

int perf_ability_find(pid_t pid, enum trigger_kind trigger, enum clock_kind clock,
		      struct perf_ability *out_ability, struct error *err)
{
	struct perf_ability ability = { 0 };
	int fd = perf_open_counter(pid, true);

	if (fd >= 0) {
		ability.can_count = true;
		close(fd);
		ability_try_sigtrap(pid, clock, &ability);
	} else {
		perf_ability_explain(&ability, fd);
	}
	if (trigger == TRIGGER_SIGTRAP && !ability.can_sigtrap)
		return error_set(err, -EPERM,
				 "cannot use the trigger sigtrap: %s; --trigger timer works "
				 "without perf events",
				 ability.why);
	if (trigger == TRIGGER_TIMER) {
		ability.can_sigtrap = false;
		snprintf(ability.why, sizeof ability.why,
			 "timers on each thread, as --trigger timer asked");
	}
	if (trigger == TRIGGER_AUTO && clock == CLOCK_KIND_CPU && ability.can_sigtrap &&
	    !ability.can_see_kernel)
		ability_add_kernel_ticks(&ability);
	*out_ability = ability;
	return 0;
}
