/*
 * environment_end - moves the end of the environment that the kernel shows in /proc/PID/environ.
 *
 * The kernel keeps that address (mm_struct.env_end), and has two calls to change it:
 * PR_SET_MM_ENV_END, which needs CAP_SYS_RESOURCE, and PR_SET_MM_MAP, which does not, since it was
 * made for restoring checkpoints (kernel/sys.c, Linux 3.18, with CONFIG_CHECKPOINT_RESTORE, which
 * distributions have).  PR_SET_MM_MAP sets all such addresses at once, so the others must be known:
 * /proc/self/stat shows them (proc(5)), in 20 us.
 */
#include "agent/core/environment_end.h"

#include <fcntl.h>
#include <linux/prctl.h>
#include <sys/auxv.h>
#include <sys/syscall.h>

#include "abi/types.h"
#include "agent/core/agent_state.h"
#include "agent/core/arch.h"

/* Numbers of the fields in /proc/PID/stat, the first behind the name being 3. */
#define STAT_FIRST       3
#define STAT_START_CODE  26
#define STAT_END_CODE    27
#define STAT_START_STACK 28
#define STAT_START_DATA  45
#define STAT_END_DATA    46
#define STAT_START_BRK   47
#define STAT_ARG_START   48
#define STAT_ARG_END     49
#define STAT_ENV_START   50
#define STAT_ENV_END     51
#define STAT_FIELDS      52

/* The name, of at most 64 characters, and 51 numbers of at most 20 digits and a sign. */
#define STAT_BYTES 1280

static const char *find_name_end(const char *text)
{
	const char *end = text;

	for (; *text != '\0'; text++)
		if (*text == ')')
			end = text + 1;
	return end;
}

/* Fills fields[] by the fields' numbers; missing ones are 0. */
static void parse_stat(const char *text, u64 fields[STAT_FIELDS])
{
	u32 number = STAT_FIRST - 1;

	for (u32 i = 0; i < STAT_FIELDS; i++)
		fields[i] = 0;
	for (text = find_name_end(text); *text != '\0'; text++) {
		if (*text == ' ') {
			if (++number == STAT_FIELDS)
				return;
		} else if (*text >= '0' && *text <= '9') {
			fields[number] = fields[number] * 10 + (u64)(*text - '0');
		}
	}
}

static bool read_stat(u64 fields[STAT_FIELDS])
{
	char text[STAT_BYTES];
	const long fd = arch_syscall4(SYS_openat, AT_FDCWD, (long)"/proc/self/stat",
				      O_RDONLY | O_CLOEXEC, 0);

	if (fd < 0)
		return false;
	const long got = arch_syscall4(SYS_read, fd, (long)text, sizeof text - 1, 0);

	arch_syscall4(SYS_close, fd, 0, 0, 0);
	if (got <= 0)
		return false;
	text[got] = '\0';
	parse_stat(text, fields);
	return true;
}

/* The environment ends where the kernel puts the program's name (fs/exec.c, bprm->exec). */
AGENT_START static bool set_with_right(const char *from, const char *to)
{
	return getauxval(AT_EXECFN) == (u64)from &&
	       arch_syscall6(SYS_prctl, PR_SET_MM, PR_SET_MM_ENV_END, (long)to, 0, 0, 0) == 0;
}

AGENT_START void environment_end_move(const char *from, const char *to)
{
	u64 fields[STAT_FIELDS];

	if (set_with_right(from, to))
		return;
	if (!read_stat(fields) || fields[STAT_ENV_END] != (u64)from)
		return;
	const struct prctl_mm_map map = {
		.start_code = fields[STAT_START_CODE],
		.end_code = fields[STAT_END_CODE],
		.start_data = fields[STAT_START_DATA],
		.end_data = fields[STAT_END_DATA],
		.start_brk = fields[STAT_START_BRK],
		.brk = (u64)arch_syscall4(SYS_brk, 0, 0, 0, 0),
		.start_stack = fields[STAT_START_STACK],
		.arg_start = fields[STAT_ARG_START],
		.arg_end = fields[STAT_ARG_END],
		.env_start = fields[STAT_ENV_START],
		.env_end = (u64)to,
		.exe_fd = (u32)-1,
	};

	arch_syscall6(SYS_prctl, PR_SET_MM, PR_SET_MM_MAP, (long)&map, sizeof map, 0, 0);
}
