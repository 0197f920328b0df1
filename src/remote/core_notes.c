#include "remote/core_notes.h"

#include <elf.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "remote/core_contents.h"

#define MOST_THREADS  65536U
#define MOST_MAPPINGS 262144U
/* Offsets in struct elf_prstatus of the signal, the thread id and the registers. */
enum { STATUS_SIGNAL = 12, STATUS_PID = 32, STATUS_REGISTERS = 112 };
/* Offsets in struct elf_prpsinfo. */
enum { PROCESS_PID = 24, PROCESS_NAME = 40, PROCESS_COMMAND = 56 };
#if defined(__aarch64__)
/* struct user_pt_regs: x0 to x30, sp, pc, pstate.  The call's number is in x8. */
#define REGISTERS 34

static void set_registers(struct core_thread *thread, const uint64_t values[REGISTERS])
{
	struct walk_registers *to = &thread->registers;

	memcpy(to->all, values, WALK_REGISTERS * sizeof *values);
	to->pc = values[32];
	to->sp = values[31];
	to->fp = values[29];
	to->bx = values[19];
	to->lr = values[30];
	thread->was_blocked = false;
	thread->call = (struct task_call){ .is_running = true, .number = -1 };
}
#else
/* struct user_regs_struct. */
#define REGISTERS 27
enum { R10 = 7, R9 = 8, R8 = 9, RAX = 10, RDX = 12, RSI = 13, RDI = 14, ORIG_RAX = 15 };
enum { RIP = 16, RSP = 19 };

/*
 * Results that the kernel leaves for a system call whose wait a signal ended (linux/errno.h).
 */
enum { ERESTARTSYS = 512, ERESTARTNOHAND = 514, ERESTART_RESTARTBLOCK = 516 };

static bool is_interrupted(int64_t result)
{
	return result == -4 /* EINTR */ ||
	       (result <= -ERESTARTSYS && result >= -ERESTARTNOHAND) ||
	       result == -ERESTART_RESTARTBLOCK;
}

static void set_call(struct core_thread *thread, const uint64_t values[REGISTERS])
{
	static const uint8_t places[6] = { RDI, RSI, RDX, R10, R8, R9 };
	const int64_t number = (int64_t)values[ORIG_RAX];

	/* -1 and below: the thread did not enter the kernel by a system call. */
	thread->was_blocked = number >= 0 && is_interrupted((int64_t)values[RAX]);
	thread->call = (struct task_call){ .is_running = !thread->was_blocked, .number = -1 };
	if (!thread->was_blocked)
		return;
	thread->registers.is_in_call = true;
	thread->call.number = number;
	thread->call.sp = values[RSP];
	thread->call.pc = values[RIP];
	for (int i = 0; i < 6; i++)
		thread->call.arguments[i] = values[places[i]];
}

static void set_registers(struct core_thread *thread, const uint64_t values[REGISTERS])
{
	/* r15 r14 r13 r12 bp bx r11 r10 r9 r8 ax cx dx si di, by DWARF's numbers. */
	static const uint8_t numbers[] = { 15, 14, 13, 12, 6, 3, 11, 10, 9, 8, 0, 2, 1, 4, 5 };
	struct walk_registers *to = &thread->registers;

	for (size_t i = 0; i < sizeof numbers; i++)
		to->all[numbers[i]] = values[i];
	to->pc = to->all[16] = values[RIP];
	to->sp = to->all[7] = values[RSP];
	to->fp = to->all[6];
	to->bx = to->all[3];
	set_call(thread, values);
}
#endif

static void add_thread(struct core_file *core, const uint8_t *status, size_t len)
{
	struct core_thread thread = { .registers = { .has_all = true } };
	uint64_t registers[REGISTERS];
	uint16_t signal;

	if (len < STATUS_REGISTERS + sizeof registers || core->thread_count == MOST_THREADS)
		return;
	memcpy(&signal, status + STATUS_SIGNAL, sizeof signal);
	memcpy(&thread.tid, status + STATUS_PID, sizeof thread.tid);
	memcpy(registers, status + STATUS_REGISTERS, sizeof registers);
	thread.signal = signal < NSIG ? signal : 0;
	set_registers(&thread, registers);
	core->threads = array_grow(core->threads, core->thread_count, &core->thread_capacity,
				   sizeof *core->threads);
	core->threads[core->thread_count++] = thread;
}

static void read_process(struct core_file *core, const uint8_t *info, size_t len)
{
	if (len < PROCESS_COMMAND + CORE_COMMAND_SIZE - 1)
		return;
	memcpy(&core->pid, info + PROCESS_PID, sizeof core->pid);
	memcpy(core->name, info + PROCESS_NAME, sizeof core->name - 1);
	memcpy(core->command, info + PROCESS_COMMAND, sizeof core->command - 1);
}

static bool is_fault(int number)
{
	return number == SIGSEGV || number == SIGBUS || number == SIGILL || number == SIGFPE;
}

/* The first siginfo note is the process's; gdb writes one for each thread. */
static void read_signal(struct core_file *core, const uint8_t *info, size_t len)
{
	struct bytes b = bytes_of(info, len);
	const int number = (int)bytes_u32(&b);

	(void)bytes_u32(&b); /* si_errno */
	const int code = (int)bytes_u32(&b);

	(void)bytes_u32(&b);
	const uint64_t word = bytes_u64(&b);

	if (b.short_read || core->signal.number != 0 || number <= 0 || number >= NSIG)
		return;
	core->signal = (struct core_signal){ .number = number, .code = code };
	/* Codes up to 0 are those of kill(), tgkill() and sigqueue(), which send the pid. */
	if (code <= 0)
		core->signal.sender = (pid_t)word;
	else if (is_fault(number))
		core->signal.address = word;
}

static void read_auxiliary(struct core_file *core, const uint8_t *vector, size_t len)
{
	struct bytes b = bytes_of(vector, len);

	while (bytes_left(&b) >= 2 * sizeof(uint64_t)) {
		const uint64_t key = bytes_u64(&b), value = bytes_u64(&b);

		if (key == AT_PHDR)
			core->program_headers = value;
		else if (key == AT_SYSINFO_EHDR)
			core->vdso = value;
	}
}

/* NT_FILE: a count, the page size, three words for each mapping, then the paths. */
static void read_files(struct core_file *core, const uint8_t *note, size_t len)
{
	struct bytes numbers = bytes_of(note, len), paths = numbers;
	const uint64_t count = bytes_u64(&numbers), page = bytes_u64(&numbers);

	if (core->mappings || count == 0 || count > MOST_MAPPINGS || count > len / 24 ||
	    !bytes_take(&paths, 16 + count * 24))
		return;
	core->mappings = xreallocarray(NULL, count, sizeof *core->mappings);
	for (uint64_t i = 0; i < count; i++) {
		struct core_mapping m = { .start = bytes_u64(&numbers) };
		const char *path;

		m.end = bytes_u64(&numbers);
		if (__builtin_mul_overflow(bytes_u64(&numbers), page, &m.file_offset) ||
		    !(path = bytes_string(&paths)))
			return;
		if (m.end <= m.start || strnlen(path, PATH_MAX) == PATH_MAX)
			continue;
		m.file = intern_string(&core->paths, path);
		m.path = intern_get(&core->paths, m.file, NULL);
		core->mappings[core->mapping_count++] = m;
	}
}

static void read_note(struct core_file *core, uint32_t type, const uint8_t *bytes, size_t len)
{
	switch (type) {
	case NT_PRSTATUS:
		add_thread(core, bytes, len);
		break;
	case NT_PRPSINFO:
		read_process(core, bytes, len);
		break;
	case NT_SIGINFO:
		read_signal(core, bytes, len);
		break;
	case NT_AUXV:
		read_auxiliary(core, bytes, len);
		break;
	case NT_FILE:
		read_files(core, bytes, len);
		break;
	default:
		break;
	}
}

void core_notes_read(struct core_file *core, const void *notes, size_t len)
{
	struct bytes b = bytes_of(notes, len);

	while (bytes_left(&b) >= 3 * sizeof(uint32_t)) {
		const uint64_t name_size = bytes_u32(&b), size = bytes_u32(&b);
		const uint32_t type = bytes_u32(&b);
		const char *name = bytes_take(&b, (name_size + 3) & ~3ULL);
		const uint8_t *bytes = bytes_take(&b, size);

		if (!name || !bytes)
			return;
		if (name_size == sizeof "CORE" && memcmp(name, "CORE", sizeof "CORE") == 0)
			read_note(core, type, bytes, size);
		(void)bytes_take(&b, (4 - size % 4) % 4);
	}
}
