/*
 * Tests, in the interpreter that is to be traced and before its program is, that dispatch hooks
 * count every call exactly once, however Python code makes it.
 *
 * The calls are counted in a separate area, which is not reported.  The expected counts are those
 * of cProfile.  Each function runs often enough for its instructions to be specialised.
 */
#include <stddef.h>

#include "agent/trace/calls.h"
#include "agent/trace/python/api.h"
#include "agent/trace/python/eval_loop.h"

#define BUILTINS 802
#define RESULT   2010

/*
 * cProfile's counts depend on whether comprehensions are functions (up to 3.11), whether closing
 * a generator that is suspended outside of any handler executes it (not in 3.13.0), and how often
 * a generator expression asks for its iterator (twice in some releases of 3.13).
 */
static const struct {
	u32 version; /* PY_VERSION_HEX >> 16 */
	u64 functions;
} figures[] = {
	{ 0x030b, 1843 }, { 0x030c, 1783 }, { 0x030d, 1763 }, { 0x030d, 1783 },
	{ 0x030d, 1803 }, { 0x030e, 1783 }, { 0x030f, 1783 },
};
#define FIGURES (sizeof figures / sizeof *figures)

/* Makes calls of every sort; r sums what they return. */
static const char source[] =
	"class A:\n"
	" x=1\n"
	" def __init__(s,v=0):s.v=v\n"
	" def m(s,a,b=2):return a+b\n"
	" def __call__(s,a):return a\n"
	" def __getitem__(s,k):\n"
	"  if k>2:return ()[k]\n"
	"  return k\n"
	" def __add__(s,o):return 1\n"
	" def __len__(s):return 3\n"
	" @property\n"
	" def p(s):return s.v\n"
	" @classmethod\n"
	" def c(k,a):return a\n"
	" @staticmethod\n"
	" def t(a):return a\n"
	" def __getattr__(s,n):raise AttributeError(n)\n"
	" def __enter__(s):return s\n"
	" def __exit__(s,*e):return True\n"
	" def __del__(s):len('')\n"
	"class I:\n"
	" def __init__(s):s.i=0\n"
	" def __iter__(s):return s\n"
	" def __next__(s):\n"
	"  s.i+=1\n"
	"  if s.i>3:raise StopIteration\n"
	"  return s.i\n"
	"def g(n):\n"
	" for i in range(n):yield i\n"
	" return n\n"
	"def h(n):\n"
	" r=yield from g(n)\n"
	" return r\n"
	"async def co(n):return n\n"
	"async def cp(n):return await co(n)\n"
	"def k(a,*b,c=1,**d):return a+c\n"
	"def w(n):return n and w(n-1)\n"
	"def e(n):\n"
	" if n:return e(n-1)\n"
	" raise KeyError(n)\n"
	"def f(i):\n"
	" a=A(i)\n"
	" l=[3,1,2]\n"
	" r=a.m(1)+a.m(1,b=3)+a(1)+a[1]+(a+1)+len(a)+a.p+A.c(1)+a.c(2)+A.t(1)\n"
	" r+=k(1)+k(1,2,c=3,z=4)+k(*l,**{'q':1})+w(5)\n"
	" l.append(4);l.sort(key=lambda v:-v);r+=sorted(l,key=abs)[0]+sum(map(w,l))\n"
	" r+=len(list(map(len,['a','b'])))+isinstance(a,A)+abs(-1)+max(1,2)+int('3')\n"
	" r+=len(str(4))\n"
	" r+='abc'.find('b')+len(','.join(['a']))+len('a b'.split())+{}.get(1,2)\n"
	" r+=divmod(*(7,2))[0]\n"
	" r+=str.upper('a')=='A'\n"
	" r+=len('%s'%a.t)>0\n"
	" r+=sum(g(3))+sum(h(2))+sum(x for x in l)+sum([x for x in I()])+sum([x for x in a])\n"
	" q=g(5);next(q);r+=q.send(None)\n"
	" try:q.throw(ValueError)\n"
	" except ValueError:r+=1\n"
	" q=g(5);next(q);q.close();q=g(2);del q\n"
	" try:co(1).send(None)\n"
	" except StopIteration as s:r+=s.value\n"
	" try:cp(2).send(None)\n"
	" except StopIteration as s:r+=s.value\n"
	" try:e(3)\n"
	" except KeyError:r+=1\n"
	" try:len(1)\n"
	" except TypeError:r+=1\n"
	" try:w()\n"
	" except TypeError:r+=1\n"
	" try:next(iter(()))\n"
	" except StopIteration:r+=1\n"
	" with a:e(1)\n"
	" with a:int('x')\n"
	" r+=hasattr(a,'zz')+getattr(a,'zy',1)\n"
	" d=a.m;r+=d(1)+d(*[1]);d=l.index;r+=d(1)\n"
	" o=[abs,w,A.t,len];\n"
	" for z in o:r+=z(''if z is len else 0)\n"
	" return r\n"
	"r=0\n"
	"for i in range(20):r+=f(i)\n";

/* Calls of these kinds in a whole area. */
struct counts {
	u64 functions, builtins;
};

static struct counts counts_of(const struct trace_area *area)
{
	struct counts counts = { 0, 0 };

	for (u32 chunk = 1; chunk < TRACE_CHUNKS && area->owners[chunk] != 0; chunk++) {
		for (u32 i = 0; i < TRACE_CHUNK_NODES; i++) {
			const struct trace_node *node =
				&area->nodes[chunk * TRACE_CHUNK_NODES + i];

			*(trace_call_kind_is_python(node->kind) ? &counts.functions
								: &counts.builtins) +=
				node->calls;
		}
	}
	return counts;
}

static bool is_figure(u32 version, u64 functions)
{
	for (size_t i = 0; i < FIGURES; i++) {
		if (figures[i].version == version >> 16 && figures[i].functions == functions)
			return true;
	}
	return false;
}

static bool is_right(const struct call_stack *calls, u32 version, bool has_builtins)
{
	const struct counts counts = counts_of(calls->area);

	return is_figure(version, counts.functions) &&
	       counts.builtins == (has_builtins ? BUILTINS : 0) &&
	       calls->top == calls->entries && calls->area->lost_calls == 0;
}

bool trace_eval_loop_test(const struct loop_shape *shape, bool has_builtins)
{
	/* Static: keeps its entries for the next interpreter. */
	static struct trace_aside aside;
	long number = 0;
	void *code = trace_api_compile(source);

	if (code == NULL)
		return false;
	bool is_passed = false;

	if (trace_begin_aside(&aside)) {
		is_passed = trace_api_run_for_number(code, &number) && number == RESULT &&
			    is_right(&aside.calls, shape->layout->version, has_builtins);
		trace_end_aside(&aside);
	}
	python_api.Py_DecRef(code);
	return is_passed;
}
