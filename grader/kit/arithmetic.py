"""All that code may use which computes with tensors by formulas, and by nothing else: for `allowed` of an exercise."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import torch

from grader.model.exercise import Allowed

_MODULES = """
    torch torch.nn torch.nn.functional torch.linalg torch.special torch.func torch.cuda torch.fft math cmath
    numpy numpy.linalg numpy.random numpy.typing einops scipy.special typing collections collections.abc functools
    itertools operator dataclasses types contextlib copy abc time warnings random threading concurrent.futures
"""
# Names of torch and its tensors, besides operators.
_OF_TORCH = """
    H T apply_ as_subclass bool byte char cpu cuda double dtype device element_size float half int is_cpu is_cuda
    is_sparse itemsize layout long nbytes ndim ndimension nelement new new_tensor numpy requires_grad shape short tolist
    type unique Tensor Size Generator FloatTensor DoubleTensor LongTensor BoolTensor as_tensor asarray tensor
    broadcast_shapes finfo iinfo from_numpy is_tensor manual_seed seed initial_seed no_grad inference_mode enable_grad
    set_grad_enabled is_grad_enabled is_inference_mode_enabled autocast set_printoptions set_default_dtype
    get_default_dtype set_num_threads get_num_threads set_float32_matmul_precision unravel_index vmap
    is_available synchronize current_device device_count inf nan pi e newaxis
    float16 float32 float64 bfloat16 complex64 complex128 int8 int16 int32 int64 uint8 strided contiguous_format
    preserve_format Module Parameter Linear Softmax LogSoftmax Dropout Identity ModuleList ModuleDict Sequential
    LayerNorm forward eval train training parameters named_parameters register_buffer weight bias modules children
    normalize softmin cross_entropy gumbel_softmax values indices eigenvalues
"""
_OF_NUMPY = """
    ndarray array asanyarray ascontiguousarray atleast_1d atleast_2d atleast_3d empty empty_like zeros zeros_like ones
    ones_like full full_like eye identity arange linspace diag diagonal tri tril triu tril_indices triu_indices
    diag_indices fill_diagonal einsum einsum_path matmul dot vdot inner outer tensordot kron cross trace sum prod mean
    average std var min max amin amax nanmin nanmax nansum ptp argmin argmax argsort sort cumsum cumprod exp exp2 expm1
    log log2 log10 log1p sqrt square cbrt power float_power add subtract multiply divide true_divide floor_divide mod
    remainder negative positive absolute abs fabs sign maximum minimum fmax fmin clip where select take
    take_along_axis put_along_axis compress reshape ravel flatten transpose swapaxes moveaxis rollaxis expand_dims
    squeeze broadcast_to broadcast_arrays concatenate stack vstack hstack dstack column_stack split array_split vsplit
    hsplit repeat tile roll flip fliplr flipud rot90 isclose allclose array_equal isfinite isinf isnan nan_to_num
    logical_and logical_or logical_not any all count_nonzero nonzero argwhere size shape ndim copy copyto astype
    reciprocal logaddexp logaddexp2 ix_ meshgrid indices ndindex ndenumerate nditer bincount unique round rint floor
    ceil trunc errstate seterr printoptions float_ float32 float64 float16 int_ intp int32 int64 bool_ newaxis norm det
    inv solve random default_rng standard_normal normal uniform randn rand result_type promote_types dtype item tolist
    T at reduce accumulate outer subtract keepdims
"""
_OF_PYTHON = """
    Any Callable ClassVar Dict Final Generic Iterable Iterator List Literal Mapping NamedTuple Optional Protocol Self
    Sequence Set Tuple TypeAlias TypeVar Union Generator cast overload namedtuple defaultdict OrderedDict deque Counter
    _replace _asdict _fields _make default_factory appendleft popleft most_common partial reduce wraps lru_cache cache
    cached_property itemgetter add sub mul truediv floordiv matmul neg pow dataclass field fields replace astuple asdict
    SimpleNamespace contextmanager nullcontext suppress copy deepcopy name value ABC abstractmethod
    perf_counter time monotonic warn args Thread start join is_alive result ThreadPoolExecutor submit map shutdown
    as_completed rearrange repeat softmax log_softmax logsumexp logsumexp xlogy setter getter deleter
    cache_clear NDArray ArrayLike
"""
_BUILTINS = """
    abs all any ascii bin bool bytes callable chr classmethod complex dict display divmod enumerate filter float format
    frozenset hash hex id int isinstance issubclass iter len list map max min next object oct ord pow print property
    range repr reversed round set slice sorted staticmethod str sum super tuple type zip
    True False None Ellipsis NotImplemented __name__ __debug__
    ArithmeticError AssertionError AttributeError BaseException Exception FloatingPointError IndexError KeyError
    LookupError NotImplementedError OverflowError RuntimeError RuntimeWarning StopIteration TypeError UserWarning
    ValueError ZeroDivisionError DeprecationWarning FutureWarning Warning
"""
_GRADIENTS = ("backward", "grad", "jvp", "vjp")  # which no operator here has in its name
_LIBRARIES = ("linalg_", "special_", "fft_")  # torch.linalg.norm is the operator linalg_norm


def _operators() -> Iterator[str]:
    """The operators in PyTorch's own table, by the names that people use."""
    for full in torch._C._dispatch_get_all_op_names():
        space, _, name = full.partition(".")[0].partition("::")
        if space == "aten" and not name.startswith("_") and not any(part in name for part in _GRADIENTS):
            yield from (name.removeprefix(library) for library in ("", *_LIBRARIES))


def _of_kinds() -> Iterator[str]:
    """Attributes of Python's own values, and names from math and itertools."""
    kinds = (str, bytes, int, float, complex, list, tuple, dict, set, frozenset, slice, range, Exception)
    names = itertools.chain(dir(math), dir(itertools), *map(dir, kinds))
    return (name for name in names if not name.startswith("_"))


# Names that people try, which get a sentence of their own.
_OF_AUTOGRAD = """
    autograd backward grad grad_fn requires_grad_ retain_grad register_hook vjp jvp jacrev jacfwd jacobian hessian
    linearize functorch make_fx aten ops _softmax_backward_data _C DisableTorchFunction jit
"""
_ROUNDABOUT = """
    getattr setattr delattr eval exec compile __import__ importlib globals locals vars dir __dict__ __getattribute__
    __class__ __globals__ __builtins__ get_ipython attrgetter methodcaller sys gc inspect ctypes
"""
_OF_NOTEBOOKS = "plt matplotlib pyplot open input"
_LISTED = "torch nn functional F np numpy math linalg special"
_FORMULAS = "Write out the formulas: softmax, matrix products and sums are all you need."
_SAID = {
    _OF_AUTOGRAD: f"Autograd and PyTorch's own backward functions are not allowed. {_FORMULAS}",
    _ROUNDABOUT: "Write what you mean, such as `torch.exp(x)`, instead of looking it up or running a string.",
    _OF_NOTEBOOKS: "Do that in a separate cell, not in the function.",
    _LISTED: "Name the part that you use, such as `torch.exp`, instead of passing on the whole module.",
}
ARITHMETIC = Allowed(
    modules=frozenset(_MODULES.split()),
    names=frozenset({*_operators(), *_of_kinds(), *f"{_OF_TORCH} {_OF_NUMPY} {_OF_PYTHON}".split()}),
    builtins=frozenset(_BUILTINS.split()),
    says="In this exercise, the gradients are computed by formulas, with nothing but the arithmetic of Python, math, "
    "numpy and torch.",
    instead={name: said for names, said in _SAID.items() for name in names.split()},
)
