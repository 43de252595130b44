"""Exercise 40: attention that caches a latent for each word, and no keys and values."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F  # noqa: F401  in lines
from torch import nn

from grader import Case, Exercise, at, wrong
from grader.kit.module_cases import in_float64
from grader.kit.module_readings import reader
from grader.kit.pieces import FLOAT64, LARGE

from .ex29_cached_attention import KEEPS_STATE, cache_reader, picture
from .ex29_cached_attention import exercise as cached
from .given_rotation import rotate
from .head_cases import OVERLONG
from .latent_cases import NO_KEYS, WithAbsorbed, far_below, going_on, large, of_many_words, run, sized
from .mistakes import attention, mistakes_named

Tensor = torch.Tensor

NO_TENSOR = (
    "Your cache is not one tensor. Keep one of shape (B, S, rank + rope_dim): for each word its latent, then its "
    "rotated rotary key, and no keys and values of heads."
)


class LatentAttention(nn.Module):
    def __init__(self, d_model, num_heads, head_dim, rank, rope_dim):
        super().__init__()
        self.num_heads, self.head_dim, self.rank, self.rope_dim = num_heads, head_dim, rank, rope_dim
        self.q = nn.Linear(d_model, num_heads * (head_dim + rope_dim), bias=False)  #: layers
        self.down = nn.Linear(d_model, rank + rope_dim, bias=False)  #: layers
        self.up = nn.Linear(rank, num_heads * 2 * head_dim, bias=False)  #: layers
        self.out = nn.Linear(num_heads * head_dim, d_model, bias=False)  #: out_layer

    def forward(self, x, cache=None):
        return self.attend(x, cache, absorb=False)

    def attend(self, x, cache, absorb):
        B, T, _ = x.shape  #: sizes
        before = 0 if cache is None else cache.shape[1]
        positions = torch.arange(before, before + T, device=x.device)  #: positions
        q = self.q(x).view(B, T, self.num_heads, -1).transpose(1, 2)  # (B, H, T, head_dim + rope_dim)  #: query
        content, rope = q.split([self.head_dim, self.rope_dim], dim=-1)  #: parts
        rope = rotate(rope, positions)  #: turn_query

        latent, key_rope = self.down(x).split([self.rank, self.rope_dim], dim=-1)  # (B, T, ...)  #: down
        key_rope = rotate(key_rope, positions)  #: turn_key
        new = torch.cat([latent, key_rope], dim=-1)  #: new
        cache = new if cache is None else torch.cat([cache, new], dim=1)  # (B, S, rank + rope_dim)  #: join
        latents, key_ropes = cache[:, None].split([self.rank, self.rope_dim], dim=-1)  # (B, 1, S, ...)  #: unpack

        if absorb:
            up_k, up_v = self.up.weight.view(self.num_heads, 2, self.head_dim, self.rank).unbind(1)  #: up_parts
            content = content @ up_k  # (B, H, T, rank)
            k = v = latents
        else:
            up = self.up(latents[:, 0]).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)  #: up
            k, v = up.chunk(2, dim=-1)  # (B, H, S, head_dim)  #: halves

        S = cache.shape[1]
        scores = content @ k.mT + rope @ key_ropes.mT  # (B, H, T, S)  #: scores
        scores = scores / math.sqrt(self.head_dim + self.rope_dim)  #: scale
        mask = torch.ones(T, S, device=x.device).triu(1 + S - T) == 1  # after the query  #: crop
        scores = scores.masked_fill(mask, -math.inf)  #: hide
        weights = torch.softmax(scores, dim=-1)  #: normalize

        context = weights @ v  #: mix
        if absorb:
            context = context @ up_v.mT  # (B, H, T, head_dim)  #: raised
        context = context.transpose(1, 2).flatten(2)  # (B, T, H * head_dim)  #: merge
        context = self.out(context)  #: out
        return context, cache  #: result

    def absorbed(self, x, cache=None):
        return self.attend(x, cache, absorb=True)  #: absorbed


read = cache_reader(reader(LatentAttention, causal=True), NO_TENSOR)

NEIGHBORS = "rotate({0}.unflatten(-1, (-1, 2)).mT.flatten(-2), positions).unflatten(-1, (2, -1)).mT.flatten(-2)"
# Mistakes of exercise 29 and of other modules whose lines fit here.
IN_THE_MASK = (
    "mask from the first key", "mask from the first key, except for single words", "mask only with a cache",
    "no mask with a cache", "no mask", "own word hidden", "own word hidden, except for single words", "mask inverted",
    "next word seen",
)  # fmt: skip
OF_A_CACHE = (
    "zeros for −∞",
    "cache first",
    "out without effect",
    "raw scores as weights",
    "words mixed up in merging",
)
IN_WEIGHTS = (
    "heads in reverse order", "first head's weights for all", "weights averaged over heads", "first head only",
    "heads averaged", "softmax twice", "exponentials not divided", "sigmoid for softmax",
    "first sentence's weights for all", "squeezed", "everything detached",
)  # fmt: skip

ALL_KEYS_FIRST = {
    "halves": "k, v = (y.unflatten(-1, (self.num_heads, -1)).transpose(1, 2) for y in up.chunk(2, dim=-1))",
    "up": "up = self.up(latents[:, 0])",
}
FROM_ALL_KEYS_FIRST = "up_k, up_v = self.up.weight.view(2, self.num_heads, self.head_dim, self.rank)"


# fmt: off
exercise = Exercise(
    number=40,
    assignment="modern_attention",
    title="A cache of latents",
    solution=LatentAttention,
    form=WithAbsorbed(),
    probe=run,
    read=read,
    picture=picture,
    cases=[
        Case("a text in two chunks", "gradients that do not come through the cache, a wrong scale",
             sized(1, 5, (8, 2, 6, 4, 4), [2, 3], gradients=1)),
        Case("a text in two chunks, absorbed", "gradients that do not reach the layer up",
             sized(1, 4, (5, 3, 4, 6, 2), [3, 1], "absorbed", gradients=1)),
        Case("several sentences in chunks", "a mask that is wrong where there is a cache, sentences that are mixed",
             sized(3, 6, (6, 2, 5, 3, 4), [1, 3, 2])),
        Case("as many sentences, words, heads and entries", "axes that are exchanged without an error",
             sized(4, 4, (4, 4, 4, 4, 4), [2, 2])),
        Case("one head", "squeezed dimensions", sized(2, 3, (5, 1, 2, 4, 6), [2, 1])),
        Case("one entry in each head, and latents of one", "squeezed dimensions", sized(1, 4, (3, 3, 1, 1, 2), [3, 1])),
        Case("two words after others, one by one", "a cache that is ignored, or kept by the module",
             going_on(2, 5, (6, 2, 4, 2, 4), [1, 1])),
        Case("words after others", "new words before old ones, a mask or positions that begin at the first word",
             going_on(1, 4, (8, 4, 2, 6, 4), [1, 2])),
        Case(
            "words after many others",
            "a mask or positions of a fixed size, a cache that is cut off",
            going_on(1, OVERLONG, (2, 1, 2, 2, 2), [1, 1]),
            beside=f"Your module is right for short texts, but not after {OVERLONG} earlier words. A text may have any "
            "length.",
            once=True,
        ),
        Case("float64 inputs", "a result of another type than the input",
             in_float64(sized(2, 4, (6, 2, 4, 2, 4), [2, 2], gradients=1)), FLOAT64),
        Case("scores of ±10⁴", "overflow, weights masked after softmax", large, LARGE),
        Case("scores of about −10⁴", "a number such as −10⁴ for −∞, which scores can reach", far_below, LARGE),
        Case("a word after very many others, absorbed", "keys and values of all cached words", of_many_words,
             promise=NO_KEYS),
    ],
    mistakes=[
        *mistakes_named(cached.mistakes, *IN_THE_MASK),
        *at("hide",
            wrong("no mask in absorbed", "if not absorb:\n    scores = scores.masked_fill(mask, -math.inf)",
                  "In absorbed, the words of a chunk see each other's future. That works for single words only: mask "
                  "as in forward.", kind="missing step")),
        *at("absorbed",
            wrong("absorbed still to do", "return None",
                  "Your absorbed is missing, or returns nothing yet.", kind="missing step"),
            wrong("absorbed returns the result alone", "return self.attend(x, cache, absorb=True)[0]",
                  "Your absorbed does not return y and the cache, as forward does. Return both.",
                  credit=0.75, kind="missing step")),
        *at("positions",
            wrong("positions from 0", "positions = torch.arange(T, device=x.device)",
                  "In your results, the positions of every chunk begin at 0. The first new word comes after all cached "
                  "ones: begin at the length of the cache.", kind="mix-up"),
            wrong("positions from 0 in absorbed",
                  "positions = torch.arange(T, device=x.device) + (0 if absorb else before)",
                  "In absorbed, the positions of every chunk begin at 0. As in forward, begin at the length of the "
                  "cache.", kind="mix-up"),
            wrong("positions from 1", "positions = torch.arange(before + 1, before + T + 1, device=x.device)",
                  "Your positions begin at 1. Without a given cache, the outputs stay the same, but not the cache: "
                  "the first word of a text is at position 0.", credit=0.75)),
        wrong("nothing rotated", {"turn_query": "", "turn_key": ""},
              "In your results, nothing is rotated, so they do not depend on how far apart words are. Rotate the last "
              "rope_dim entries of each query, and the rotary key.", kind="missing step"),
        wrong("queries not rotated", {"turn_query": ""},
              "In your results, the rotary key is rotated, but the queries are not. Rotate the last rope_dim entries "
              "of each query, too.", kind="missing step"),
        wrong("keys not rotated", {"turn_key": ""},
              "In your results, the queries are rotated, but the rotary key is not. Rotate it by the positions of its "
              "word before you cache it.", kind="missing step"),
        wrong("rotary key cached before its rotation",
              {"turn_key": "",
               "after unpack": "key_ropes = rotate(key_ropes, torch.arange(cache.shape[1], device=x.device))"},
              "Your cache holds the rotary keys as they were before rotation, so all of them must be rotated again at "
              "each step. Rotate each once, when its word comes in, and cache the result.", kind="arrangement"),
        *at("after unpack",
            wrong("cached keys rotated again",
                  "key_ropes = rotate(key_ropes, torch.arange(cache.shape[1], device=x.device))",
                  "Your rotary keys are rotated twice: before they are cached, and again when they are used. Rotate "
                  "each once, by the position of its word.", kind="mix-up"),
            wrong("words mixed up in repeated rotary keys",
                  "key_ropes = key_ropes[:, 0].repeat(1, self.num_heads, 1).view("
                  "B, cache.shape[1], self.num_heads, -1).transpose(1, 2)",
                  "In your results, the heads get rotary keys of other words. All heads share the one of each word: "
                  "give the cache an axis of length 1 for them, or expand it there.", kind="arrangement")),
        wrong("rotated in pairs of neighbors",
              {"turn_query": f"rope = {NEIGHBORS.format('rope')}",
               "turn_key": f"key_rope = {NEIGHBORS.format('key_rope')}"},
              "In your results, neighboring entries are a pair, as in exercise 21. Use the given rotate, in which "
              "entry i belongs to entry i + rope_dim / 2.", credit=0.75, kind="convention"),
        wrong("whole queries rotated", {"before parts": "q = rotate(q, positions)", "turn_query": ""},
              "In your results, whole queries are rotated. Rotate only their last rope_dim entries: the first head_dim "
              "entries are compared with keys that are not rotated.", kind="mix-up"),
        wrong("latents rotated", {"before new": "latent = rotate(latent, positions)"},
              "In your results, the latents are rotated, too. Rotate only the rotary key: keys and values are made "
              "from latents as they are.", kind="mix-up"),
        wrong("latents normalized",
              [{"before new": "latent = F.rms_norm(latent, latent.shape[-1:], eps=1e-6)"},
               {"before new": "latent = F.rms_norm(latent, latent.shape[-1:])"}],
              "In your results, the latents are normalized, as in DeepSeek's own code. Leave that out here.",
              credit=0.75, kind="mix-up"),
        *at("scores",
            wrong("no rotary part", "scores = content @ k.mT",
                  "Your scores have no rotary part. Add the dot products of the rotated queries and the rotary keys.",
                  kind="missing step"),
            wrong("no rotary part in absorbed",
                  "scores = content @ k.mT + (0 if absorb else 1) * (rope @ key_ropes.mT)",
                  "In absorbed, your scores have no rotary part. Add it as in forward: only the rest is absorbed.",
                  kind="missing step"),
            wrong("rotary part alone", "scores = rope @ key_ropes.mT",
                  "Your scores have only the rotary part. Add the dot products of the other entries with the keys that "
                  "up makes.", kind="missing step")),
        *at("scale",
            wrong("not scaled", "",
                  "The scores that you use are not scaled. Divide them by √(head_dim + rope_dim).", kind="scaling"),
            wrong("scaled by √head_dim", "scores = scores / math.sqrt(self.head_dim)",
                  "Your scores are divided by √head_dim. A query has rope_dim entries more: divide by √(head_dim + "
                  "rope_dim).", kind="scaling"),
            wrong("scaled by the size of the cache", "scores = scores / math.sqrt(self.rank + self.rope_dim)",
                  "Your scores are divided by √(rank + rope_dim). Queries and keys have head_dim + rope_dim entries: "
                  "divide by the root of that, in absorbed, too.", kind="scaling"),
            wrong("scaled by the size of the cache in absorbed",
                  "scores = scores / math.sqrt((self.rank if absorb else self.head_dim) + self.rope_dim)",
                  "In absorbed, your scores are divided by √(rank + rope_dim). They are the same scores as in forward: "
                  "divide by √(head_dim + rope_dim).", kind="scaling"),
            wrong("scaled by √rank", "scores = scores / math.sqrt(self.rank)",
                  "Your scores are divided by √rank. Divide by √(head_dim + rope_dim).", kind="scaling"),
            wrong("scaled by the root of d_model", "scores = scores / math.sqrt(x.shape[-1])",
                  "Your scores are divided by √d_model. Divide by √(head_dim + rope_dim).", kind="scaling"),
            wrong("scaled by √S", "scores = scores / math.sqrt(S)",
                  "Your scores are divided by the root of the number of keys. Divide by √(head_dim + rope_dim).",
                  kind="scaling"),
            wrong("scaled without the root", "scores = scores / (self.head_dim + self.rope_dim)",
                  "Your scores are divided by head_dim + rope_dim. Divide by the root of that.", kind="scaling"),
            wrong("each part scaled",
                  "scores = (content @ k.mT / self.head_dim**0.5 + rope @ key_ropes.mT / self.rope_dim**0.5)",
                  "Each part of your scores is divided by the root of its own size. Add the parts first, then divide "
                  "by √(head_dim + rope_dim).", kind="scaling")),
        wrong("rotary part first in queries",
              {"parts": "rope, content = q.split([self.rope_dim, self.head_dim], dim=-1)"},
              "In your results, the first rope_dim entries of each query are rotated. Rotate its last ones.",
              kind="arrangement"),
        wrong("rotary parts of all heads last",
              {"query": "q = self.q(x)",
               "parts": "content, rope = q.tensor_split([self.num_heads * self.head_dim], dim=-1)\n"
                        "content, rope = (y.view(B, T, self.num_heads, -1).transpose(1, 2) for y in (content, rope))"},
              "In your results, the layer q gives the first parts of all heads, then the rotary parts of all. Each "
              "head has its head_dim + rope_dim entries in a row: split into heads first, then into parts.",
              kind="arrangement"),
        *at("query",
            wrong("words mixed up in queries", "q = self.q(x).view(B, self.num_heads, T, -1)",
                  "In your results, words are mixed up, as when (B, T, …) is viewed as (B, H, T, …). View queries as "
                  "(B, T, H, …), then take the result of transpose(1, 2).", kind="arrangement")),
        *at("up",
            wrong("words mixed up in keys and values", "up = self.up(latents[:, 0]).view(B, self.num_heads, "
                  "cache.shape[1], -1)",
                  "In forward, words are mixed up in keys and values, as when (B, S, …) is viewed as (B, H, S, …). "
                  "View them as (B, S, H, …), then take the result of transpose(1, 2).", kind="arrangement")),
        wrong("rotary key first in down",
              {"down": "key_rope, latent = self.down(x).split([self.rope_dim, self.rank], dim=-1)"},
              "In your results, the layer down gives the rotary key first. Its first rank entries are the latent, its "
              "last rope_dim the rotary key.", kind="arrangement"),
        wrong("rotary key first in the cache",
              {"new": "new = torch.cat([key_rope, latent], dim=-1)",
               "unpack": "key_ropes, latents = cache[:, None].split([self.rope_dim, self.rank], dim=-1)"},
              "Your cache holds the rotary key first, then the latent. Put the latent first.", kind="arrangement"),
        wrong("latent and rotary key exchanged", {"new": "new = torch.cat([key_rope, latent], dim=-1)"},
              "Your cache is put together in another order than it is taken apart. Put the latent first, then the "
              "rotary key.", kind="arrangement"),
        wrong("values before keys",
              {"halves": "v, k = up.chunk(2, dim=-1)", "up_parts": ("up_k, up_v", "up_v, up_k")},
              "Keys and values are swapped in your results. Of the entries that up makes for a head, the first "
              "head_dim are its key, and the last its value.", kind="mix-up"),
        wrong("values before keys in forward", {"halves": "v, k = up.chunk(2, dim=-1)"},
              "In forward, keys and values are swapped. Of the entries that up makes for a head, the first head_dim "
              "are its key, and the last its value.", kind="mix-up"),
        *at("up_parts",
            wrong("values before keys in absorbed", ("up_k, up_v", "up_v, up_k"),
                  "In absorbed, the two parts of up.weight are swapped. Of the rows for a head, the first head_dim "
                  "make its key, and the last its value.", kind="mix-up"),
            wrong("keys of all heads first", FROM_ALL_KEYS_FIRST,
                  "In your results, the layer up gives the keys of all heads, then the values of all. Each head has "
                  "its key and then its value: split into heads first.", kind="arrangement", also=ALL_KEYS_FIRST),
            wrong("keys of all heads first in absorbed", FROM_ALL_KEYS_FIRST,
                  "In absorbed, up.weight is taken for the keys of all heads, then the values of all. Each head has "
                  "the rows of its key and then of its value: split into heads first.", kind="arrangement"),
            wrong("weights of up detached",
                  [("self.up.weight", "self.up.weight.detach()"),
                   {"after up_parts": "up_k = up_k.detach()"}, {"after up_parts": "up_v = up_v.detach()"}],
                  "In absorbed, not all gradients reach up.weight. Use it without .data, detach and no_grad, and keep "
                  "no copies of it.", kind="gradient")),
        wrong("keys of all heads first in forward", ALL_KEYS_FIRST,
              "In forward, up is taken for the keys of all heads, then the values of all. Each head has its key and "
              "then its value: split into heads first.", kind="arrangement"),
        wrong("keys as values", {"halves": "k, v = up.chunk(2, dim=-1)[0], up.chunk(2, dim=-1)[0]",
                                 "raised": "if absorb:\n    context = context @ up_k.mT"},
              "Your results are weighted sums of the keys. Mix the values: of the entries that up makes for a head, "
              "the last head_dim.", kind="mix-up"),
        wrong("values of keys in absorbed", {"raised": "if absorb:\n    context = context @ up_k.mT"},
              "In absorbed, the mixed latents are multiplied by the part of up.weight that makes keys. Use the part "
              "that makes values.", kind="mix-up"),
        *at("join",
            wrong("cache without effect", "cache = new",
                  "Your results ignore the words before: each chunk is treated as a new text. Put what is cached "
                  "before the new words.", credit=0.25, kind="missing step"),
            wrong("new words before old ones", "cache = new if cache is None else torch.cat([new, cache], dim=1)",
                  "In your cache, the new words come before the old ones. Put them after.", kind="arrangement")),
        *at("before join",
            wrong("cache kept by the module", "if cache is None:\n    cache = getattr(self, 'kept', None)", KEEPS_STATE,
                  kind="mix-up", also={"after join": "self.kept = cache"})),
        *at("result",
            wrong("new words alone handed on", "return context, new",
                  "The cache that you return holds only the words of the last chunk. The next chunks need all of them: "
                  "return all words so far.", kind="missing step"),
            wrong("given cache returned", "return context, new if before == 0 else cache[:, :before]",
                  "When your module is given a cache, it returns it without the new words. The new cache must hold all "
                  "words so far.", kind="missing step"),
            wrong("cache detached", "return context, cache.detach()",
                  "No gradient gets through the cache. Leave out detach and .data for what you pass on.",
                  kind="gradient"),
            wrong("no cache returned", "return context, None",
                  "Your forward does not return y and a cache, so each chunk is treated as a new text. Return y and "
                  "the cache.", credit=0.25, kind="missing step"),
            wrong("latents and rotary keys apart", "return context, (latents[:, 0], key_ropes[:, 0])", NO_TENSOR,
                  kind="arrangement",
                  also={"before sizes": "if cache is not None:\n    latent, key_rope = cache\n"
                                        "    cache = torch.cat([latent, key_rope], dim=-1)"})),
        wrong("with biases", {"layers": ("False", "True"), "out_layer": ("False", "True")},
              "Your linear layers have a bias, but they should not. Give them bias=False.", credit=0.75, kind="input"),
        attention.HIDDEN_BY_A_NUMBER, *mistakes_named(cached.mistakes, *OF_A_CACHE),
        *mistakes_named(attention.of_split_heads("before mix", "flatten(2)", "{}, cache"), *IN_WEIGHTS),
        *attention.of_modules("out_layer"),
    ],
)
# fmt: on
