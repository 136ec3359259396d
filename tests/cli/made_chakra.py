"""Small Chakra execution traces as generators of them write these, for tests that
make their inputs: nodes by the numbers of core/read/chakra/chakra.proto."""
import os

COMP, SEND, RECV, COLL = 4, 5, 6, 7


def varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out) + bytes([n])


def field(number, value):
    """A number, or a text or message behind its length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def attribute(name, value):
    kind = 27 if isinstance(value, bool) else 29 if isinstance(value, str) else 9
    return field(1, name) + field(kind, int(value) if kind == 27 else value)


def node(number, name, kind, needs=(), us=0, **attributes):
    """`needs`: nodes that end before it begins."""
    text = field(1, number) + field(2, name) + field(3, kind)
    text += b"".join(field(5, n) for n in needs) + (field(7, us) if us else b"")
    return text + b"".join(field(10, attribute(k, v)) for k, v in attributes.items())


def collective(number, comm_type, size, needs=(), **attributes):
    return node(number, f"COMM_COLL_NODE_{number}", COLL, needs, is_cpu_op=False,
                comm_type=comm_type, comm_size=size, **attributes)


def write_chakra(path, nodes, **attributes):
    meta = field(1, "0.0.4") + b"".join(
        field(2, attribute(k, v)) for k, v in attributes.items())
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "wb") as f:
        for message in (meta, *nodes):
            f.write(varint(len(message)) + message)
