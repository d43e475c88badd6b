"""Records of the public registry of deployments: which of their numbers follow from their fields.

The registry (OpenDP, deployments-registry-data) has one YAML file for each deployment. :func:`lint`
says of every claim whether it can be derived from the record, is contradicted by the record's own
fields, or which field is missing. :func:`fields_for` writes a privacy statement as such fields.
"""

from exactdp.lazy import face

__getattr__, __dir__, __all__ = face(__name__)
