from exactdp.registry.export import fields_for as fields_for
from exactdp.registry.findings import Finding as Finding
from exactdp.registry.findings import lint as lint
