"""Erlang and Elixir, whose JIT runs processes on stacks of a few words, run as without us."""

import os
import subprocess

import live
from live_interpreted import IS_LONG

RUNS = 100 if IS_LONG else 3
TRIGGERS = [(rate, trigger) for trigger in ("sigtrap", "timer") for rate in (1000, 10000)]

# Processes that compute, that pass a message round, a deep recursion, timers, a port, a library in C
# that blocks no signal, and an exit code.
ERLANG = """-module(work).
-export([main/0]).
fib(N) when N < 2 -> N;
fib(N) -> fib(N - 1) + fib(N - 2).
pass(Next) -> receive stop -> Next ! stop; X -> Next ! X, pass(Next) end.
body(0) -> [];
body(N) -> [N | body(N - 1)].
less(A, B) -> A * 7919 rem 1009 =< B * 7919 rem 1009.
main() ->
    Self = self(),
    Ps = [spawn(fun() -> Self ! {self(), fib(24 + I rem 2)} end) || I <- lists:seq(1, 4)],
    Fibs = [receive {P, Fib} -> Fib end || P <- Ps],
    First = lists:foldl(fun(_, Next) -> spawn(fun() -> pass(Next) end) end, Self, lists:seq(1, 50)),
    [First ! I || I <- lists:seq(1, 200)],
    Sum = lists:sum([receive I when is_integer(I) -> I end || _ <- lists:seq(1, 200)]),
    First ! stop,
    Deep = length(body(200000)),
    [erlang:send_after(I, Self, {tick, I}) || I <- lists:seq(1, 10)],
    Ticks = length([receive {tick, I} -> I end || I <- lists:seq(1, 10)]),
    Port = open_port({spawn, "echo ported"}, [stream, exit_status]),
    Text = receive {Port, {data, Data}} -> Data end,
    Status = receive {Port, {exit_status, S}} -> S end,
    Sorted = erlang:phash2(lists:sort(fun less/2, lists:seq(1, 20000))),
    Bytes = byte_size(zlib:uncompress(zlib:compress(term_to_binary(lists:seq(1, 50000))))),
    io:format("~p~n", [{Fibs, Sum, Deep, Ticks, Text, Status, Sorted, Bytes}]),
    halt(7).
"""

ELIXIR = """
fib = fn fib, n -> if n < 2, do: n, else: fib.(fib, n - 1) + fib.(fib, n - 2) end
1..4 |> Enum.map(fn n -> Task.async(fn -> fib.(fib, 14 + n) end) end) |> Enum.map(&Task.await/1) |> IO.inspect
defmodule Work do
  def collatz(1), do: 0
  def collatz(n) when rem(n, 2) == 0, do: 1 + collatz(div(n, 2))
  def collatz(n), do: 1 + collatz(3 * n + 1)
end
IO.inspect(Enum.max(Enum.map(1..20000, &Work.collatz/1)))
System.halt(5)
"""


class Erlang(live.LiveTest):

    def setUp(self):
        super().setUp()
        self.need("erl")
        self.environment = dict(os.environ, HOME=self.folder, LANG="C.UTF-8")

    def assert_same(self, command, runs=RUNS):
        bare = subprocess.run(command, capture_output=True, cwd=self.folder, env=self.environment, timeout=120)
        self.assertNotEqual(bare.stdout, b"", bare.stderr)
        for rate, trigger in TRIGGERS:
            for run in range(runs):
                with self.subTest(rate=rate, trigger=trigger, run=run):
                    recording = self.record(command, "--trigger", trigger, rate=rate, expect=None,
                                            env=self.environment)
                    self.assertEqual((recording.run.returncode, recording.run.stdout, recording.run.stderr),
                                     (bare.returncode, bare.stdout, bare.stderr))
                    self.assertGreater(recording.head()["samples"], 0)

    def test_a_program_comes_out_the_same_however_often_it_is_sampled(self):
        self.write("work.erl", ERLANG)
        built = subprocess.run([self.need("erlc"), "work.erl"], cwd=self.folder, capture_output=True)
        self.assertEqual(built.returncode, 0, built.stdout)
        self.assert_same(["erl", "-noshell", "-pa", ".", "-s", "work", "main"])

    def test_elixir_comes_out_the_same_too(self):
        self.need("elixir")
        # Erlang's runtime, which the other has run often.
        self.assert_same(["elixir", self.write("work.exs", ELIXIR)], runs=RUNS if live.IS_LONG else 1)


if __name__ == "__main__":
    live.main()
