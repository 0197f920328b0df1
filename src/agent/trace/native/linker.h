/*
 * linker - what the dynamic linker loads, before anything of it is executed.
 *
 * The linker has a function for debuggers, which does nothing but be called: before its list of
 * images changes, and when it has changed (link.h: r_brk).  New images are mapped then, and no
 * constructor of theirs has run.  A debugger puts a breakpoint there.  We put a jump there: the
 * function is one instruction, and what stands behind it up to the next function is padding.  So
 * nothing has to stand before dlopen(), which looks at who calls it, and libraries that the C
 * library loads itself are seen, too.
 *
 * Where that function looks otherwise, nothing is changed, and libraries that come later are not
 * seen.
 *
 * This is for Ruby's callcc() alone, whose library copies stacks.
 */
#pragma once
/* Again: nothing. */
void trace_linker_begin(void);
/* For the entry in native/entries_x86_64.S: the list changes, or has changed. */
void trace_linker_on_change(void);
/* That entry, with all registers saved. */
void trace_linker_changed(void);
