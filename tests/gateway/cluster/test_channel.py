"""What goes from one node to another arrives once and in order, or it is no batch."""

import pytest

from gateway.cluster.channel import LONGEST, Channel


def test_longest_batch_is_taken_and_a_longer_one_refused_before_it_has_come() -> None:
    batch = Channel()
    batch.put(b"x")
    head = batch.batch()[4:20]
    assert list(Channel().feed(LONGEST.to_bytes(4) + head)) == []
    with pytest.raises(ValueError, match="too long"):
        list(Channel().feed((LONGEST + 1).to_bytes(4) + head))


def test_batch_that_comes_twice_is_dropped_and_one_that_is_missing_is_no_channel() -> None:
    sender, batches = Channel(), list[bytes]()
    for frame in (b"one", b"two", b"three"):
        sender.put(frame)
        batches.append(sender.batch())
    receiver = Channel()
    assert list(receiver.feed(batches[0] + batches[0])) == [b"one"]
    with pytest.raises(ValueError, match="missing"):
        list(receiver.feed(batches[2]))
