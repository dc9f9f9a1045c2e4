"""Certificates of a placement's value and of a bound on the optimum, and their verifier.

The verifier believes nothing but the instance and shares no code with the solvers: this package
imports :mod:`prefixplace_opt.problem` alone. The theorem, its proof and the file format are told
in docs/certificates.md.
"""

from .certificate import Certificate, FixedChunks, ServicePrices, Withheld
from .certificate_file import (
    certificate_from_document,
    document_of_certificate,
    read_certificate,
    write_certificate,
)
from .claim import certificate_of
from .integer_savings import Arithmetic
from .report import Rejection, Report
from .verifier import verify

__all__ = [
    "Arithmetic",
    "Certificate",
    "FixedChunks",
    "Rejection",
    "Report",
    "ServicePrices",
    "Withheld",
    "certificate_from_document",
    "certificate_of",
    "document_of_certificate",
    "read_certificate",
    "verify",
    "write_certificate",
]
