"""What PyTorch has for the attention operators; see torch_operators.py."""
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention.bias import causal_lower_right

scaled_dot_product_attention = torch.nn.functional.scaled_dot_product_attention
# In the order in which they are tried.
BACKENDS = [SDPBackend.CUDNN_ATTENTION, SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION,
            SDPBackend.MATH]


def dense(inputs, params):
    """cuDNN's kernel where there is one for the call."""
    q, k, v = (t.transpose(1, 2) for t in inputs)
    with sdpa_kernel(SDPBackend.CUDNN_ATTENTION if q.is_cuda else SDPBackend.MATH):
        o = scaled_dot_product_attention(
            q, k, v, is_causal=params["is_causal"], enable_gqa=q.shape[1] != k.shape[1])
    return o.transpose(1, 2)


def cudnn_takes(q, k, v, mask):
    """Whether cuDNN has a kernel for grouped heads under a mask."""
    if not q.is_cuda:
        return False
    call = torch.backends.cuda.SDPAParams(q, k, v, mask, 0.0, False, True)
    return torch.backends.cuda.can_use_cudnn_attention(call)


def attend(q, k, v, mask, params):
    """cuDNN's kernel where there is one for the call, else the first that there is. Tensors are
    (batch, row, head, column); `mask` is what visible() returns, or such masks of a batch."""
    q, k, v = (t.transpose(1, 2) for t in (q, k, v))
    softcap, scale = params.get("softcap"), params.get("sm_scale")
    grouped = q.shape[1] != k.shape[1]
    masked = type(mask) is torch.Tensor
    if grouped and (softcap is not None or (masked and not cudnn_takes(q, k, v, mask))):
        # No other fused kernel takes both a mask and groups.
        k, v = (t.repeat_interleave(q.shape[1] // t.shape[1], dim=1) for t in (k, v))
        grouped = False
    if softcap is None:
        is_causal = isinstance(mask, str)
        with sdpa_kernel(BACKENDS, set_priority=True):
            o = scaled_dot_product_attention(q, k, v, attn_mask=None if is_causal else mask,
                                             is_causal=is_causal, scale=scale, enable_gqa=grouped)
        return o.transpose(1, 2)
    scores = q @ k.transpose(-1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale)
    scores = softcap * torch.tanh(scores.float() / softcap)
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:  # zeros where nothing is visible
        weights = torch.softmax(scores.masked_fill(~mask, -torch.inf), dim=-1)
        weights = weights.masked_fill(~mask, 0.0)
    return (weights.to(v.dtype) @ v).transpose(1, 2)


def visible(queries, keys, params, device):
    """Which keys the queries of a sequence see, both aligned at their ends: None for all, what the
    fused kernels take for a causal mask, else a mask."""
    is_causal = params["is_causal"]
    left = params.get("window_size_left", -1)
    right = params.get("window_size_right", -1)
    if left < 0 and right < 0 and params.get("softcap") is None:
        if not is_causal:
            return None
        if queries == keys:
            return "causal"
        if queries < keys:
            return causal_lower_right(queries, keys)
    place = torch.arange(queries, device=device)[:, None] + keys - queries
    key = torch.arange(keys, device=device)[None]
    mask = torch.ones((queries, keys), dtype=torch.bool, device=device)
    if is_causal:
        mask &= key <= place
    if left >= 0:
        mask &= key >= place - left
    if right >= 0:
        mask &= key <= place + right
    return mask


def window(inputs, params, output):
    rows = inputs[0].shape[1]
    mask = visible(rows, rows, params, output.device)
    return lambda tensors: attend(*tensors, mask, params)


def lengths_of(starts):
    starts = starts.tolist()
    return [end - start for start, end in zip(starts, starts[1:])]


def attend_ragged(q_lengths, kv_lengths, params, device):
    """A function of packed q, k and v: one call where all sequences are alike, else one each."""
    batches = len(q_lengths)
    if len(set(q_lengths)) == 1 and len(set(kv_lengths)) == 1:
        mask = visible(q_lengths[0], kv_lengths[0], params, device)

        def together(*packed):
            batched = (t.unflatten(0, (batches, -1)) for t in packed)
            return attend(*batched, mask, params).flatten(0, 1)
        return together
    masks = [visible(*lengths, params, device) for lengths in zip(q_lengths, kv_lengths)]

    def each(q, k, v):
        parts = zip(q.split(q_lengths), k.split(kv_lengths), v.split(kv_lengths), masks)
        return torch.cat([attend(qs[None], ks[None], vs[None], mask, params)[0]
                          for qs, ks, vs, mask in parts])
    return each


def ragged(inputs, params, output):
    q_lengths, kv_lengths = lengths_of(inputs[3]), lengths_of(inputs[4])
    call = attend_ragged(q_lengths, kv_lengths, params, output.device)
    if inputs[0].dtype != torch.float8_e4m3fn:
        return lambda tensors: call(*tensors[:3])
    group = inputs[0].shape[1] // inputs[1].shape[1]
    owner_q, owner_kv = (
        torch.repeat_interleave(torch.tensor(lengths, device=output.device))
        for lengths in (q_lengths, kv_lengths))

    def run(tensors):
        q, k, v, _, _, q_scale, k_scale, v_scale = tensors
        q_scale = q_scale.repeat_interleave(group, dim=1)
        return call(*((t.float() * scale[owner][..., None]).to(output.dtype)
                      for t, scale, owner in ((q, q_scale, owner_q), (k, k_scale, owner_kv),
                                              (v, v_scale, owner_kv))))
    return run


def decode(inputs, params):
    return attend(*inputs, None, params)


def decode_grouped(inputs, params):
    q, k, v = inputs
    return attend(q[:, None], k, v, None, params)[:, 0]


def slots(table, page_size, lengths):
    """The row of each token of each sequence, (batch, token), and which there are; past a
    sequence's end some token's row."""
    token = torch.arange(max(lengths), device=table.device)
    rows = table[:, token // page_size].long() * page_size + token % page_size
    present = token < torch.tensor(lengths, device=table.device)[:, None]
    return torch.where(present, rows, rows[present][0]), present


def paged_decode(inputs, params, output):
    """Gathers the pages, then attends."""
    q, lengths, table = inputs[0], inputs[3].tolist(), inputs[4]
    rows, present = slots(table, params["page_size"], lengths)
    queries = q.shape[1] if q.ndim == 4 else 1
    mask = None if len(set(lengths)) == 1 else present[:, None, None, :]
    if params.get("is_causal") and queries > 1:
        place = torch.arange(queries, device=output.device) - queries
        last = place + torch.tensor(lengths, device=output.device)[:, None]
        token = torch.arange(rows.shape[1], device=output.device)
        mask = (present[:, None] & (token <= last[..., None]))[:, None]

    def run(tensors):
        q, k, v = tensors[:3]
        if q.ndim == 4:
            return attend(q, k[rows], v[rows], mask, params)
        return attend(q[:, None], k[rows], v[rows], mask, params)[:, 0]
    return run


def raw(t):
    """Indexing knows no 8-bit floats."""
    return t.view(torch.uint8) if t.element_size() == 1 else t


def append(inputs, params, output):
    """Turns the new queries and keys, writes the cache, gathers its pages, then attends."""
    cached, table, page_size = inputs[8].tolist(), inputs[9], params["page_size"]
    device, cache_dtype = output.device, inputs[3].dtype
    added = lengths_of(inputs[7])
    total = [old + new for old, new in zip(cached, added)]
    rows, _ = slots(table, page_size, total)
    seen = torch.cat([rows[b, :length] for b, length in enumerate(total)])
    new = torch.cat([rows[b, old:total[b]] for b, old in enumerate(cached)])
    position = torch.cat([torch.arange(old, end, device=device) for old, end in zip(cached, total)])
    call = attend_ragged(added, total, params, device)
    width = params["rotary_dim"] or inputs[0].shape[-1]
    rates = params["rope_base"] ** (-2 * torch.arange(width // 2, device=device).double() / width)
    angle = position.double()[:, None, None] * rates
    cos, sin = angle.cos().float(), angle.sin().float()

    def turn(x):
        if not params["fuse_rope"]:
            return x
        a, b = x[..., :width].float().chunk(2, dim=-1)
        turned = torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1).to(x.dtype)
        return torch.cat((turned, x[..., width:]), dim=-1)

    def run(tensors):
        q, k_new, v_new, k_pages, v_pages, k_scale, v_scale = tensors[:7]
        gathered = []
        for pages, fresh, scale in ((k_pages, turn(k_new), k_scale), (v_pages, v_new, v_scale)):
            if cache_dtype != q.dtype:
                fresh = (fresh.float() / scale).to(cache_dtype)
            raw(pages)[new] = raw(fresh)
            read = raw(pages)[seen].view(cache_dtype)
            gathered.append(read if cache_dtype == q.dtype else (read.float() * scale).to(q.dtype))
        return call(turn(q), *gathered)
    return run


ATTENTION_OPS = {
    "MultiHeadAttentionFwdOp": dense,
    "GroupedQueryAttentionFwdOp": dense,
    "MultiHeadAttentionDecodeWithKVCacheFwdOp": decode,
    "GroupedQueryAttentionDecodeWithKVCacheFwdOp": decode_grouped,
}
ATTENTION_PLANS = {
    "GroupedQueryAttentionSlidingWindowFwdOp": window,
    "GroupedQueryAttentionSlidingWindowVarlenFwdOp": ragged,
    "GroupedQueryAttentionPrefillFwdOp": ragged,
    "GroupedQueryAttentionPrefillPagedWithKVCacheFwdOp": append,
    "MultiHeadAttentionDecodePagedWithKVCacheFwdOp": paged_decode,
    "GroupedQueryAttentionDecodePagedWithKVCacheFwdOp": paged_decode,
}
