/*
 * stub - see stub.h.
 *
 * The code is copied to another address, so it has no data, calls nothing outside this file
 * except through the block, and has nothing that a compiler would turn into a call of libc.  It
 * is built without a sanitizer.
 */
#include "attach/stub.h"

#include <dlfcn.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define IN_STUB   __attribute__((section("fathom_stub"), used))
#define OF_STUB   static inline __attribute__((always_inline))
#define NS_PER_MS 1000000L
/* Interval between looks at words that another thread, or the recorder, writes. */
#define LOOK_NS           200000L
#define DESTRUCTOR_ROUNDS 4

/* The types of libc's functions. */
typedef int create_function(uint64_t *thread, const void *attributes, void *(*run)(void *),
			    void *argument);
typedef int detach_function(uint64_t thread);
typedef void *open_function(const char *path, int flags);
typedef void *symbol_function(void *handle, const char *name);
typedef char *error_function(void);
typedef void end_function(void);
typedef void *get_function(unsigned key);
typedef int set_function(unsigned key, const void *value);
typedef void destroy_function(void *value);
typedef int entry_function(const struct attach_order *order);
#define CALL(type, address) ((type *)(uintptr_t)(address))

#define SOCKETS_LOCAL          1        /* AF_UNIX */
#define SOCKETS_WHOLE_MESSAGES 0x80005L /* SOCK_SEQPACKET | SOCK_CLOEXEC */

OF_STUB long call4(long number, long a, long b, long c, long d)
{
	register long fourth __asm__("r10") = d;
	long rc;

	__asm__ volatile("syscall"
			 : "=a"(rc)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
			 : "rcx", "r11", "memory");
	return rc;
}

OF_STUB long call3(long number, long a, long b, long c)
{
	return call4(number, a, b, c, 0);
}

OF_STUB void sleep_ns(long ns)
{
	long time[2] = { 0, ns };

	call3(SYS_nanosleep, (long)time, 0, 0);
}

OF_STUB void name_thread(const struct stub_block *block)
{
	call3(SYS_prctl, PR_SET_NAME, (long)block->thread_name, 0);
}

OF_STUB void set_state(struct stub_block *block, uint32_t state)
{
	__atomic_store_n(&block->state, state, __ATOMIC_RELEASE);
}

/* Waits for the recorder's answer; STUB_LEAVE if none comes in time. */
OF_STUB uint32_t wait_for_recorder(struct stub_block *block)
{
	uint32_t go = STUB_WAIT;

	for (uint64_t i = 0; i < block->patience_ms * NS_PER_MS / LOOK_NS; i++) {
		go = __atomic_load_n(&block->go, __ATOMIC_ACQUIRE);
		if (go != STUB_WAIT)
			return go;
		sleep_ns(LOOK_NS);
	}
	return STUB_LEAVE;
}

OF_STUB void note_error(struct stub_block *block)
{
	const char *text = CALL(error_function, block->dlerror)();

	for (uint32_t i = 0; text != NULL && text[i] != '\0' && i + 1 < STUB_ERROR_SIZE; i++) {
		block->error[i] = text[i];
		__asm__ volatile("" : : : "memory"); /* not strncpy() */
	}
}

/* The recorder writes the agent into our memfd, which no path names. */
OF_STUB void *load_object(struct stub_block *block)
{
	void *handle = NULL;

	block->object_fd =
		(int32_t)call3(SYS_memfd_create, (long)block->object_name, 1 /* CLOEXEC */, 0);
	if (block->object_fd < 0)
		return NULL;
	set_state(block, STUB_WANTS_OBJECT);
	if (wait_for_recorder(block) == STUB_GO) {
		handle = CALL(open_function, block->dlopen)(block->path, RTLD_NOW);
		if (handle == NULL)
			note_error(block);
	}
	call3(SYS_close, block->object_fd, 0, 0);
	__atomic_store_n(&block->go, STUB_WAIT, __ATOMIC_RELEASE);
	return handle;
}

/* Creates a pair of sockets: the agent gets one end, and the recorder takes the other. */
OF_STUB int connect_pair(struct stub_block *block)
{
	int32_t ends[2];

	block->order.connection = block->connection = -1;
	if (block->order.wish == ATTACH_LEAVE)
		return 1;
	if (call4(SYS_socketpair, SOCKETS_LOCAL, SOCKETS_WHOLE_MESSAGES, 0, (long)ends) < 0)
		return 0;
	block->order.connection = ends[0];
	block->connection = ends[1];
	return 1;
}

OF_STUB void enter(struct stub_block *block)
{
	uint64_t entry = 0;
	void *handle =
		CALL(open_function, block->dlopen)(block->soname, RTLD_NOW | RTLD_NOLOAD);

	block->was_mapped = handle != NULL;
	if (handle == NULL)
		handle = load_object(block);
	if (handle != NULL)
		entry = (uint64_t)(uintptr_t)CALL(symbol_function,
						  block->dlsym)(handle, block->entry_name);
	if (entry == 0 || !connect_pair(block)) {
		set_state(block, STUB_FAILED);
	} else {
		set_state(block, STUB_ENTERING);
		block->result = CALL(entry_function, entry)(&block->order);
		/* An agent that does not know this layout does not close the connection. */
		if (block->result == ATTACH_BAD_ORDER)
			call3(SYS_close, block->order.connection, 0, 0);
		set_state(block, STUB_DONE);
		call3(SYS_close, block->connection, 0, 0);
	}
	wait_for_recorder(block);
}

/* What stub_second() needs after the block is unmapped. */
struct leaving {
	uint64_t code, code_bytes, munmap;
};

IN_STUB void stub_second_main(struct stub_block *block, struct leaving *out_leaving);
IN_STUB void stub_second_main(struct stub_block *block, struct leaving *out_leaving)
{
	/* The first thread's stack is in the block's mapping: wait until it has ended. */
	const uint32_t *first_thread = (const uint32_t *)(uintptr_t)block->first_thread;

	name_thread(block);
	while (__atomic_load_n(first_thread, __ATOMIC_ACQUIRE) != 0)
		sleep_ns(LOOK_NS);
	enter(block);
	*out_leaving = (struct leaving){ block->code, block->code_bytes, block->munmap };
	call3(SYS_munmap, (long)block->data, (long)block->data_bytes, 0);
}

/*
 * Destroys the thread's values of pthread keys; true if there was one: destructors may set
 * others.
 */
OF_STUB int destroy_values(struct stub_block *block)
{
	int is_any = 0;

	for (unsigned key = 0; key < STUB_KEYS; key++) {
		void *value = CALL(get_function, block->getspecific)(key);
		const uint64_t destroy = block->keys[key].destructor;

		if (value == NULL)
			continue;
		is_any = 1;
		CALL(set_function, block->setspecific)(key, NULL);
		if (destroy != 0)
			CALL(destroy_function, destroy)(value);
	}
	return is_any;
}

/* Does what libc does at a thread's end (glibc, nptl/pthread_create.c, start_thread()). */
OF_STUB void end_thread(struct stub_block *block)
{
	CALL(end_function, block->call_tls_dtors)();
	for (int i = 0; i < DESTRUCTOR_ROUNDS && destroy_values(block); i++)
		;
}

IN_STUB void stub_first_main(struct stub_block *block);
IN_STUB void stub_first_main(struct stub_block *block)
{
	name_thread(block);
	block->result = CALL(create_function, block->pthread_create)(&block->thread, NULL,
								     stub_second, block);
	if (block->result == 0)
		CALL(detach_function, block->pthread_detach)(block->thread);
	else
		set_state(block, STUB_FAILED);
	end_thread(block);
	for (;;)
		call3(SYS_exit, 0, 0, 0);
}

/*
 * The second thread jumps to libc's munmap() at its end, which unmaps the stub and returns to
 * libc: no instruction of the stub is executed after that.
 */
__asm__(".pushsection fathom_stub,\"ax\",@progbits\n"
	".globl stub_first\n"
	".hidden stub_first\n"
	".type stub_first, @function\n"
	"stub_first:\n"
	"	xor %ebp, %ebp\n"
	"	and $-16, %rsp\n"
	"	mov %r12, %rdi\n"
	"	call stub_first_main\n"
	"	hlt\n"
	".size stub_first, . - stub_first\n"
	".globl stub_second\n"
	".hidden stub_second\n"
	".type stub_second, @function\n"
	"stub_second:\n"
	"	sub $24, %rsp\n"
	"	mov %rsp, %rsi\n"
	"	call stub_second_main\n"
	"	mov 0(%rsp), %rdi\n"
	"	mov 8(%rsp), %rsi\n"
	"	mov 16(%rsp), %rax\n"
	"	add $24, %rsp\n"
	"	jmp *%rax\n"
	".size stub_second, . - stub_second\n"
	".popsection\n");
