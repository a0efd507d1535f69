"""Faults of a group. Each is a function that takes the group, a source of random numbers and a
function that waits for a while; when it returns, the fault is repaired.

One fault at a time disturbs the group, because WAIT promises nothing if all nodes with a write lose
their data. Killing all nodes together is no exception: their logs remain.
"""

import os
import time

from group import CLIENT
from network import Rule

CUT = Rule(cuts=True)
STALL = Rule(stalls=True)


def kill_master(group, random):
    kill_and_restart(group.master(), random)


def kill_replica(group, random):
    kill_and_restart(random.choice(group.replicas()), random)


def kill_and_restart(node, random):
    node.kill()
    time.sleep(random.choice([0, 0.3, 2, 3]))  # with and without a failover
    node.start()


def kill_all(group, random):
    for node in group.nodes:
        node.kill()
    time.sleep(random.choice([0, 1]))
    for node in random.sample(group.nodes, len(group.nodes)):
        node.start()


def kill_voter(group, random):
    kill_and_restart(random.choice(group.voters), random)


def restart_master(group, random):
    group.master().restart()


def restart_replica(group, random):
    random.choice(group.replicas()).restart()


def suspend_any(group, random):
    node = random.choice([group.master(), *group.nodes])
    node.suspend()
    time.sleep(random.choice([0.2, 1, 3]))
    node.resume()


def isolate_master(group, random):
    """The master is cut off from the other nodes and those that decide; clients reach it."""
    separate(group, random, {group.master().name}, group.others(group.master()))


def isolate_master_with_a_replica(group, random):
    master, replica = group.master(), random.choice(group.replicas())
    some = {master.name, replica.name}
    separate(group, random, some, group.parties() - some)


def isolate_replica(group, random):
    replica = random.choice(group.replicas())
    separate(group, random, {replica.name}, group.others(replica))


def isolate_clients(group, random):
    separate(group, random, {CLIENT}, {group.master().name})


def separate(group, random, some, others):
    rule = random.choice([CUT, STALL, STALL])
    if random.random() < 0.3:  # in one direction
        group.network.set_rule(rule, *random.choice([(some, others), (others, some)]))
    else:
        group.network.separate(some, others, rule)
    time.sleep(random.choice([0.3, 2, 3]))
    group.network.heal(cut=random.random() < 0.5)


def delay_all(group, random):
    everybody = group.names() | {CLIENT}
    group.network.separate(everybody, everybody, Rule(delay_s=random.choice([0.01, 0.1])))
    time.sleep(1)
    group.network.heal()


def halve_links(group, random):
    for _ in range(5):
        group.network.halve(group.names(), group.names() | {CLIENT})
        time.sleep(0.1)
    group.network.heal()


def step_clock(group, random):
    node = random.choice(group.nodes)
    for seconds in (random.choice([-100_000, -30, 30, 100_000]), random.choice([-1, 0, 5])):
        node.shift_clock(seconds)
        time.sleep(0.4)


def fill_disk(group, random):
    node = random.choice([group.master(), *group.nodes])
    node.fill_disk()
    time.sleep(random.choice([0.5, 2]))
    node.empty_disk()


def rewrite_logs(group, random):
    for node in group.nodes:
        try:
            node.client.bgrewriteaof()
        except Exception:  # one is in progress
            pass
    kill_master(group, random)


def fail_over(group, random):
    group.fail_over()
    time.sleep(random.choice([0, 1]))


def possible(group):
    """Returns the faults that can be made here."""
    faults = [kill_master, kill_master, kill_replica, kill_all, restart_master, restart_replica, suspend_any,
              isolate_master, isolate_master, isolate_master_with_a_replica, isolate_replica,
              isolate_clients, delay_all, halve_links, rewrite_logs, fail_over]
    if all(node.has_own_disk for node in group.nodes):
        faults.append(fill_disk)
    if getattr(group, "voters", None):
        faults.append(kill_voter)
    if os.environ.get("SHIFTED_CLOCK"):
        faults.append(step_clock)
    return faults


# For a short run.
ESSENTIAL = (kill_master, isolate_master, halve_links)
