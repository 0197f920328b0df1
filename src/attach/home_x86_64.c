/* Computes the registers with which a stopped thread goes on, on x86-64 (home.h). */
#include "attach/home.h"

#include <errno.h>
#include <stddef.h>
#include <sys/syscall.h>

/* Values of rax in an interrupted call, inside the kernel (include/linux/errno.h). */
enum {
	RESTART_SYS = 512,
	RESTART_NO_INTERRUPT = 513,
	RESTART_NO_HANDLER = 514,
	RESTART_BLOCK = 516,
};
#define SYSCALL_BYTES 2
#define CODE_SEGMENT  0x33 /* of 64-bit code (arch/x86/include/asm/segment.h, __USER_CS) */

static void begin_anew(struct user_regs_struct *registers, unsigned long long number)
{
	registers->rip -= SYSCALL_BYTES;
	registers->rax = number;
}

const char *home_of(const struct user_regs_struct *stopped, struct home *out_home)
{
	const long long number = (long long)stopped->orig_rax;
	const long long result = (long long)stopped->rax;
	struct home home = { .resumed = *stopped, .restored = *stopped };

	if (stopped->cs != CODE_SEGMENT)
		return "it executes 32-bit code";
	if (number == SYS_restart_syscall)
		return "it is in a call that was interrupted before";
	home.is_in_call = number >= 0;
	if (home.is_in_call) {
		switch (-result) {
		case EINTR:
		case RESTART_SYS:
		case RESTART_NO_INTERRUPT:
		case RESTART_NO_HANDLER:
			begin_anew(&home.resumed, (unsigned long long)number);
			begin_anew(&home.restored, (unsigned long long)number);
			break;
		case RESTART_BLOCK:
			begin_anew(&home.resumed, SYS_restart_syscall);
			begin_anew(&home.restored, (unsigned long long)number);
			break;
		default:
			break;
		}
	}
	/* Keeps the kernel from restarting the call itself. */
	home.resumed.orig_rax = home.restored.orig_rax = (unsigned long long)-1;
	*out_home = home;
	return NULL;
}
