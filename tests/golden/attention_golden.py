"""Cases of the attention operators: float64 PyTorch, rounded once."""
import itertools
import math

import torch

F = torch.nn.functional
HALVES = (torch.float16, torch.bfloat16)
FLOAT8 = torch.float8_e4m3fn


def randn(shape, dtype, seed):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def visible(queries, keys, is_causal, left=-1, right=-1):
    """Which key each query sees; both are aligned at their ends."""
    at = torch.arange(queries)[:, None] + keys - queries
    key = torch.arange(keys)[None]
    mask = torch.ones((queries, keys), dtype=torch.bool)
    if is_causal:
        mask &= key <= at
    if left >= 0:
        mask &= key >= at - left
    if right >= 0:
        mask &= key <= at + right
    return mask


def attend(q, k, v, mask, scale=None, softcap=None):
    """One sequence: q (S, H, D), k and v (N, H_kv, D), mask (S, N). Returns o (S, H, D), lse (H, S)."""
    group = q.shape[1] // k.shape[1]
    q, k, v = (t.double().transpose(0, 1) for t in (q, k, v))
    k, v = (t.repeat_interleave(group, 0) for t in (k, v))
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    scores = q @ k.transpose(1, 2) * scale
    if softcap is not None:
        scores = softcap * torch.tanh(scores / softcap)
        out = torch.softmax(scores.masked_fill(~mask, -math.inf), -1).nan_to_num() @ v
    else:
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=scale)
    blind = ~mask.any(-1)
    out[:, blind] = 0
    lse = torch.logsumexp(scores.masked_fill(~mask, -math.inf), -1)
    return out.transpose(0, 1), lse


def with_outputs(case, name, params, inputs, outputs, mutated=0):
    made = case(name, params, inputs, outputs[0])
    made["outputs"] = [made.pop("output")]
    made["outputs"] += [case("", [], [], t)["output"] for t in outputs[1:]]
    if mutated:
        made["mutated"] = mutated
    return made


def dense_cases(case, ratios, windows):
    shapes = ((2, 7, 4, 8, 8), (1, 1, 2, 16, 16), (1, 12, 6, 24, 8))
    for dtype, ratio, window, (b, s, h, d, dv) in itertools.product(HALVES, ratios, windows, shapes):
        q, k, v = (randn(shape, dtype, seed) for seed, shape in
                   enumerate(((b, s, h, d), (b, s, h // ratio, d), (b, s, h // ratio, dv))))
        mask = visible(s, s, *window)
        rows = [attend(q[i], k[i], v[i], mask) for i in range(b)]
        o = torch.stack([row[0] for row in rows]).to(dtype)
        name = f"{b}x{s}x{h}x{d}-{dv}-{ratio}-{window}"
        if len(window) == 1:
            lse = torch.stack([row[1] for row in rows]).float()
            yield with_outputs(case, name, list(window), (q, k, v), (o, lse))
        else:
            yield case(name, list(window), (q, k, v), o)


WINDOWS = ((True, -1, -1), (True, 3, -1), (False, 2, 1), (False, -1, 4))


def ragged(dtype, q_lens, kv_lens, h, h_kv, d):
    q = randn((sum(q_lens), h, d), dtype, 1)
    k, v = (randn((sum(kv_lens), h_kv, d), dtype, seed) for seed in (2, 3))
    starts = [torch.tensor([0, *itertools.accumulate(lens)], dtype=torch.int32)
              for lens in (q_lens, kv_lens)]
    return q, k, v, *starts


def attend_ragged(q, k, v, q_starts, kv_starts, window, scale=None, softcap=None, scales=None):
    parts = []
    for b in range(len(q_starts) - 1):
        qb, kb = q[q_starts[b]:q_starts[b + 1]], k[kv_starts[b]:kv_starts[b + 1]]
        vb = v[kv_starts[b]:kv_starts[b + 1]]
        if scales is not None:
            group = q.shape[1] // k.shape[1]
            qb = qb.double() * scales[0][b].double().repeat_interleave(group)[None, :, None]
            kb, vb = (t.double() * s[b].double()[None, :, None] for t, s in ((kb, scales[1]), (vb, scales[2])))
        parts.append(attend(qb, kb, vb, visible(len(qb), len(kb), *window), scale, softcap)[0])
    return torch.cat(parts)


LENGTHS = (([3, 0, 5], [6, 4, 2]), ([1], [9]), ([4, 4], [4, 0]))


def window_varlen_cases(case):
    for dtype, window, (q_lens, kv_lens) in itertools.product(HALVES, WINDOWS, LENGTHS):
        q, k, v, *starts = ragged(dtype, q_lens, kv_lens, 4, 2, 8)
        yield case(f"{q_lens}-{kv_lens}-{window}", [*window, max(q_lens)], (q, k, v, *starts),
                   attend_ragged(q, k, v, *starts, window).to(dtype))


def prefill_cases(case):
    kinds = ((None, None), (0.4, None), (-0.3, None), (None, 1.5))
    for dtype, window, (scale, softcap), lens in itertools.product(
            (*HALVES, FLOAT8), WINDOWS[:3], kinds, LENGTHS[:2]):
        q, k, v, *starts = ragged(torch.float32, *lens, 4, 2, 8)
        q, k, v = (t.to(dtype) for t in (q, k, v))
        scales = [randn((len(lens[0]), 2), torch.float32, seed).abs() + 0.1 for seed in (4, 5, 6)]
        o = attend_ragged(q, k, v, *starts, window, scale, softcap,
                          scales if dtype == FLOAT8 else None)
        params = [max(lens[0]), max(lens[1]), window[0], scale, softcap, *window[1:], None]
        yield case(f"{lens}-{window}-{scale}-{softcap}", params, (q, k, v, *starts, *scales),
                   o.to(torch.bfloat16 if dtype == FLOAT8 else dtype))


def decode_cases(case, grouped):
    kinds = ((None, None), (0.3, None), (None, 2.0)) if grouped else ((),)
    shapes = ((2, 1, 4, 2, 9, 8, 8), (1, 3, 4, 4, 5, 16, 8), (3, 1, 6, 2, 1, 8, 24), (2, 1, 4, 2, 0, 8, 8))
    for dtype, kind, (b, s, h, h_kv, n, d, dv) in itertools.product(HALVES, kinds, shapes):
        s, h_kv = (1, h_kv) if grouped else (s, h)
        q = randn((b, s, h, d), dtype, 1)
        k, v = randn((b, n, h_kv, d), dtype, 2), randn((b, n, h_kv, dv), dtype, 3)
        mask = visible(s, n, False)
        o = torch.stack([attend(q[i], k[i], v[i], mask, *kind)[0] for i in range(b)]).to(dtype)
        if grouped:
            q, o = q[:, 0], o[:, 0]
        yield case(f"{b}x{s}x{h}x{n}x{d}-{kind}", list(kind), (q, k, v), o)


def paged(dtype, lengths, pages, page_size, h_kv, d, extra=2):
    """A pool with NaN wherever no token lies, and a table with -1 past the last page."""
    pool = (len(lengths) * pages + extra) * page_size
    k, v = randn((pool, h_kv, d), torch.float32, 2), randn((pool, h_kv, d), torch.float32, 3)
    order = torch.randperm(pool // page_size, generator=torch.Generator().manual_seed(4)).tolist()
    table = torch.full((len(lengths), pages), -1, dtype=torch.int32)
    used = torch.zeros(pool, dtype=torch.bool)
    for b, length in enumerate(lengths):
        for page in range(-(-length // page_size)):
            table[b, page] = order.pop()
            first = int(table[b, page]) * page_size
            used[first:first + min(page_size, length - page * page_size)] = True
    k[~used], v[~used] = math.nan, math.nan
    return k.to(dtype), v.to(dtype), table


def rows_of(table, b, length, page_size):
    token = torch.arange(length)
    return table[b, token // page_size].long() * page_size + token % page_size


def paged_decode_cases(case, grouped):
    kinds = ((None, None), (0.3, None), (None, 2.0)) if grouped else ((False,), (True,))
    for dtype, kind, page_size, s in itertools.product(HALVES, kinds, (1, 4, 6), (1, 3)):
        if grouped and s > 1:
            continue
        lengths = [page_size * 3, 0, 2, page_size + 1]
        h, h_kv = (4, 2) if grouped else (2, 2)
        k, v, table = paged(dtype, lengths, 3 if page_size > 1 else 4, page_size, h_kv, 8)
        q = randn((len(lengths), s, h, 8), dtype, 1)
        o = []
        for b, length in enumerate(lengths):
            rows = rows_of(table, b, length, page_size)
            mask = visible(s, length, False if grouped else kind[0])
            o.append(attend(q[b], k[rows], v[rows], mask, *(kind if grouped else ()))[0])
        o = torch.stack(o).to(dtype)
        if grouped:
            q, o = q[:, 0], o[:, 0]
        yield case(f"page-{page_size}-{s}-{kind}", [page_size, *kind],
                   (q, k, v, torch.tensor(lengths, dtype=torch.int32), table), o)


def rotate(x, position, rotary_dim, base):
    half = rotary_dim // 2
    angle = position.double()[:, None] * base ** (-torch.arange(half).double() * 2 / rotary_dim)
    cos, sin = angle.cos()[:, None], angle.sin()[:, None]
    low, high = x[..., :half].double(), x[..., half:rotary_dim].double()
    return torch.cat([low * cos - high * sin, high * cos + low * sin,
                      x[..., rotary_dim:].double()], -1).to(x.dtype)


def append_cases(case):
    kinds = ((None, False, None), (None, True, None), (None, True, 4), (FLOAT8, False, None))
    for dtype, (cache, rope, rotary), is_causal, softcap in itertools.product(
            HALVES, kinds, (True, False), (None, 1.5)):
        page_size, cached, added, d = 4, [5, 0, 7], [3, 2, 0], 8
        total = [c + a for c, a in zip(cached, added)]
        q = randn((sum(added), 4, d), dtype, 5)
        k_new, v_new = randn((sum(added), 2, d), dtype, 6), randn((sum(added), 2, d), dtype, 7)
        k, v, table = paged(dtype if cache is None else cache, total, 3, page_size, 2, d)
        k_scale, v_scale = torch.tensor([0.75]), torch.tensor([1.25])
        starts = torch.tensor([0, *itertools.accumulate(added)], dtype=torch.int32)
        k_after, v_after, o = k.clone(), v.clone(), []
        by = (k_scale.double(), v_scale.double()) if cache else (1.0, 1.0)
        for b in range(len(cached)):
            own = slice(int(starts[b]), int(starts[b + 1]))
            position = torch.arange(cached[b], total[b])
            rows = rows_of(table, b, total[b], page_size)
            turn = (lambda x: rotate(x, position, rotary or d, 10000.0)) if rope else (lambda x: x)
            k_after[rows[cached[b]:]] = (turn(k_new[own]).double() / by[0]).float().to(k.dtype)
            v_after[rows[cached[b]:]] = (v_new[own].double() / by[1]).float().to(v.dtype)
            mask = visible(added[b], total[b], is_causal)
            o.append(attend(turn(q[own]), k_after[rows].double() * by[0],
                            v_after[rows].double() * by[1], mask, None, softcap)[0])
        params = [page_size, 3, None, is_causal, None, softcap, rope, 10000.0, None, rotary]
        yield with_outputs(case, f"{cache}-{rope}-{rotary}-{is_causal}-{softcap}", params,
                           (q, k_new, v_new, k, v, k_scale, v_scale, starts,
                            torch.tensor(cached, dtype=torch.int32), table),
                           (torch.cat(o).to(dtype), k_after, v_after), mutated=2)


def attention_ops(case):
    causal = ((True,), (False,))
    return {
        "MultiHeadAttentionFwdOp": lambda: dense_cases(case, (1,), causal),
        "GroupedQueryAttentionFwdOp": lambda: dense_cases(case, (1, 2), causal),
        "GroupedQueryAttentionSlidingWindowFwdOp": lambda: dense_cases(case, (2,), WINDOWS),
        "GroupedQueryAttentionSlidingWindowVarlenFwdOp": lambda: window_varlen_cases(case),
        "GroupedQueryAttentionPrefillFwdOp": lambda: prefill_cases(case),
        "GroupedQueryAttentionPrefillPagedWithKVCacheFwdOp": lambda: append_cases(case),
        "MultiHeadAttentionDecodeWithKVCacheFwdOp": lambda: decode_cases(case, False),
        "GroupedQueryAttentionDecodeWithKVCacheFwdOp": lambda: decode_cases(case, True),
        "MultiHeadAttentionDecodePagedWithKVCacheFwdOp": lambda: paged_decode_cases(case, False),
        "GroupedQueryAttentionDecodePagedWithKVCacheFwdOp": lambda: paged_decode_cases(case, True),
    }
