// Which incomplete factorization.
#pragma once

namespace krill {

enum class Factorization {
  /// A ~ L U: the entries left of the diagonal become L, whose diagonal of ones is not stored, the others U.
  ilu0,
  /// A ~ L L^H for the Hermitian matrix whose lower triangle A stores: it becomes L. Entries right of the diagonal are
  /// neither read nor changed; imaginary parts on the diagonal are ignored.
  ic0,
};

}  // namespace krill
