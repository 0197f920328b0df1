/* The frame pointer of a blocked thread's frame, by code and stack made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "pages.h"
#include "remote/frame_pointer.h"

#define FUNCTION (PAGES_BEGIN + 0x1000)
#define CALLER   (PAGES_BEGIN + 0x2000)
#define PLT      (PAGES_BEGIN + 0x3000)
#define SLOT     (PAGES_BEGIN + 0x4000)
#define STACK    (PAGES_BEGIN + 0x8000)

static void put_call(struct pages *pages, uint64_t at, uint64_t target)
{
	const int32_t distance = (int32_t)(target - (at + 5));
	uint8_t code[5] = { 0xe8 };

	memcpy(code + 1, &distance, sizeof distance);
	pages_put(pages, at, code, sizeof code);
}

/* jmp *SLOT(%rip), and in the slot the function. */
static void put_plt(struct pages *pages)
{
	const int32_t distance = (int32_t)(SLOT - (PLT + 10));
	uint8_t code[10] = { 0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25 };

	memcpy(code + 6, &distance, sizeof distance);
	pages_put(pages, PLT, code, sizeof code);
	pages_put_word(pages, SLOT, FUNCTION);
}

static const struct {
	const char *name;
	uint8_t code[32];
	uint32_t len;   /* pc stands behind it */
	uint32_t depth; /* how far rsp is below rbp there */
} prologues[] = {
	/* push %rbp; mov %rsp,%rbp; sub $0x20,%rsp; call */
	{ "-O0",
	  { 0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x20, 0xe8, 0, 0, 0, 0 },
	  13,
	  0x20 },
	/* endbr64; push %rbp; mov %rsp,%rbp; push %r15; push %rbx; sub $0x1008,%rsp; syscall */
	{ "pushes",
	  { 0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48, 0x89, 0xe5, 0x41, 0x57,
	    0x53, 0x48, 0x81, 0xec, 0x08, 0x10, 0,    0,    0x0f, 0x05 },
	  20,
	  0x1018 },
	/* push %rbp; mov %edi,%eax; mov %rsp,%rbp; push %rbx; add $-0x80,%rsp; call */
	{ "add of a negative number",
	  { 0x55, 0x89, 0xf8, 0x48, 0x89, 0xe5, 0x53, 0x48, 0x83, 0xc4, 0x80, 0xe8, 0, 0, 0,
	    0 },
	  16,
	  0x88 },
};

static void make_stack(struct pages *pages, uint64_t fp, uint64_t back)
{
	pages_put_word(pages, fp, 0x7fff00001234);
	pages_put_word(pages, fp + 8, back);
}

static void prologues_show_it(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof prologues / sizeof *prologues; i++) {
		struct mem mem;
		struct pages *pages = pages_new(&mem);
		uint64_t fp = 0;

		pages_put(pages, FUNCTION, prologues[i].code, sizeof prologues[i].code);
		put_call(pages, CALLER, FUNCTION);
		make_stack(pages, STACK + prologues[i].depth, CALLER + 5);
		assert_int_equal(frame_pointer_find(&mem, FUNCTION, FUNCTION + prologues[i].len,
						    STACK, &fp),
				 FRAME_POINTER_BY_PROLOGUE);
		assert_int_equal(fp, STACK + prologues[i].depth);
		memory_done(&mem);
		free(pages);
	}
}

static enum frame_pointer_means find(const uint8_t *code, size_t len, uint64_t target,
				     uint64_t depth, uint64_t *out_fp)
{
	struct mem mem;
	struct pages *pages = pages_new(&mem);
	enum frame_pointer_means means;

	*out_fp = 0;
	pages_put(pages, FUNCTION, code, len);
	put_plt(pages);
	put_call(pages, CALLER, target);
	make_stack(pages, STACK + depth, CALLER + 5);
	means = frame_pointer_find(&mem, FUNCTION, FUNCTION + len, STACK, out_fp);
	memory_done(&mem);
	free(pages);
	return means;
}

static void a_call_through_the_plt_is_of_the_function(void **state)
{
	uint64_t fp;

	(void)state;
	assert_int_equal(find(prologues[0].code, 13, PLT, 0x20, &fp),
			 FRAME_POINTER_BY_PROLOGUE);
	assert_int_equal(fp, STACK + 0x20);
}

static void a_call_of_another_function_is_not_believed(void **state)
{
	uint64_t fp;

	(void)state;
	assert_int_equal(find(prologues[0].code, 13, FUNCTION + 0x100, 0x20, &fp),
			 FRAME_POINTER_UNKNOWN);
	assert_int_equal(fp, 0);
}

static void after_alloca_the_stack_is_searched_and_that_is_a_guess(void **state)
{
	/* push %rbp; mov %rsp,%rbp; sub $0x10,%rsp; sub %rax,%rsp; call */
	static const uint8_t code[] = { 0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x10,
					0x48, 0x29, 0xc4, 0xe8, 0,    0,    0,    0 };
	uint64_t fp;

	(void)state;
	assert_int_equal(find(code, sizeof code, FUNCTION, 0x150, &fp), FRAME_POINTER_BY_SCAN);
	assert_int_equal(fp, STACK + 0x150);
	assert_int_equal(find(code, sizeof code, FUNCTION + 0x100, 0x150, &fp),
			 FRAME_POINTER_UNKNOWN);
}

static void a_function_without_a_frame_has_none(void **state)
{
	/* push %rbx; sub $0x20,%rsp; call */
	static const uint8_t code[] = { 0x53, 0x48, 0x83, 0xec, 0x20, 0xe8, 0, 0, 0, 0 };
	uint64_t fp;

	(void)state;
	assert_int_equal(find(code, sizeof code, FUNCTION + 0x100, 0x28, &fp),
			 FRAME_POINTER_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prologues_show_it),
		cmocka_unit_test(a_call_through_the_plt_is_of_the_function),
		cmocka_unit_test(a_call_of_another_function_is_not_believed),
		cmocka_unit_test(after_alloca_the_stack_is_searched_and_that_is_a_guess),
		cmocka_unit_test(a_function_without_a_frame_has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
