/*
 * redirect - calls of the images that are loaded already go to the agent's own functions.
 *
 * A preloaded agent interposes functions since the linker finds them in it first.  One that is
 * loaded later is found by nothing; so the addresses that the linker wrote for the images that are
 * there (their relocations for functions of other images) are written anew.  Left as they are:
 * calls within libc, pointers that a program got by dlsym(), images that are loaded later, and
 * what starts programs (exec, posix_spawn(), system(), popen()): no program that an attached
 * process starts is entered.
 */
#pragma once

/* In the linker's lock, or where no image can go.  False: our own table cannot be read. */
int redirect_images(void);
