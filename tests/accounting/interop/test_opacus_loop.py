"""A model trained by Opacus' own engine, with the certified accountant in place of its own."""

import pytest

from exactdp.accounting import pld
from exactdp.accounting.interop.opacus import CertifiedAccountant


@pytest.mark.slow
@pytest.mark.peers
@pytest.mark.filterwarnings("ignore")
def test_a_training_run() -> None:
    torch = pytest.importorskip("torch")
    opacus = pytest.importorskip("opacus")
    data = torch.utils.data.TensorDataset(torch.randn(64, 3), torch.randint(0, 2, (64,)))
    model = torch.nn.Linear(3, 2)
    engine = opacus.PrivacyEngine()
    engine.accountant = CertifiedAccountant()
    model, optimizer, loader = engine.make_private(
        module=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
        data_loader=torch.utils.data.DataLoader(data, batch_size=8),
        noise_multiplier=1.5,
        max_grad_norm=1.0,
    )
    for _ in range(3):
        for inputs, labels in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(inputs), labels).backward()
            optimizer.step()
    assert engine.accountant.history == [(1.5, 0.125, 24)]
    expected = pld.sgd(noise_multiplier="1.5", rate="0.125", steps=24).epsilon("1e-5")
    assert engine.get_epsilon(1e-5) == expected.float_upper()
