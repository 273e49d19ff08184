"""Forces and energies of OpenMM's OpenCL platform beside its reference platform, of systems made here.

The second context of a process is tried, too: it is made with kernels that call kernels.
"""

import numpy as np
import openmm as mm
import pytest
from openmm import unit

N = 216
LENGTH = 2.2


@pytest.fixture(scope="module")
def positions():
    """Points of a grid of 6 x 6 x 6, each moved a little."""
    grid = np.stack(np.meshgrid(*[np.arange(6)] * 3, indexing="ij"), -1).reshape(-1, 3) * (LENGTH / 6)
    return grid + np.random.default_rng(1).uniform(-0.03, 0.03, grid.shape)


def system_of(*forces):
    system = mm.System()
    for _ in range(N):
        system.addParticle(20.0)
    system.setDefaultPeriodicBoxVectors(*(np.eye(3) * LENGTH))
    for force in forces:
        system.addForce(force)
    return system


def nonbonded(method):
    force = mm.NonbondedForce()
    for i in range(N):
        force.addParticle(0.4 if i % 2 else -0.4, 0.2, 0.5)
    force.setNonbondedMethod(method)
    force.setCutoffDistance(0.9)
    return force


def bonded():
    bonds, angles, torsions = mm.HarmonicBondForce(), mm.HarmonicAngleForce(), mm.PeriodicTorsionForce()
    for i in range(N - 3):
        bonds.addBond(i, i + 1, 0.3, 500.0)
        angles.addAngle(i, i + 1, i + 2, 2.0, 50.0)
        torsions.addTorsion(i, i + 1, i + 2, i + 3, 2, 0.5, 3.0)
    return bonds, angles, torsions


def custom():
    force = mm.CustomNonbondedForce("a * exp(-r / b) - (s1 * s2) / (r^6 + 0.01)")
    force.addGlobalParameter("a", 10.0)
    force.addGlobalParameter("b", 0.2)
    force.addPerParticleParameter("s")
    for i in range(N):
        force.addParticle([0.1 + 0.001 * i])
    force.setNonbondedMethod(mm.CustomNonbondedForce.CutoffPeriodic)
    force.setCutoffDistance(0.8)
    return force


def born():
    force = mm.GBSAOBCForce()
    for i in range(N):
        force.addParticle(0.4 if i % 2 else -0.4, 0.15, 0.8)
    force.setNonbondedMethod(mm.GBSAOBCForce.CutoffNonPeriodic)
    force.setCutoffDistance(0.9)
    return force


SYSTEMS = {
    "bonded": lambda: system_of(*bonded()),
    "cut off": lambda: system_of(nonbonded(mm.NonbondedForce.CutoffPeriodic)),
    "no cut-off": lambda: system_of(nonbonded(mm.NonbondedForce.NoCutoff)),
    "Ewald": lambda: system_of(nonbonded(mm.NonbondedForce.Ewald)),
    "particle mesh": lambda: system_of(nonbonded(mm.NonbondedForce.PME)),
    "custom": lambda: system_of(custom()),
    "implicit solvent": lambda: system_of(born(), nonbonded(mm.NonbondedForce.CutoffNonPeriodic)),
}


def context_of(system, platform, positions, precision=None):
    settings = {"Precision": precision} if precision else {}
    context = mm.Context(system, mm.VerletIntegrator(0.001), mm.Platform.getPlatformByName(platform), settings)
    context.setPositions(positions)
    return context


def forces_and_energy(context):
    state = context.getState(getForces=True, getEnergy=True)
    forces = state.getForces(asNumpy=True).value_in_unit(unit.kilojoule_per_mole / unit.nanometer)
    return forces, state.getPotentialEnergy().value_in_unit(unit.kilojoule_per_mole)


@pytest.mark.parametrize("precision", ["single", "mixed", "double"])
@pytest.mark.parametrize("name", SYSTEMS)
def test_forces(name, precision, positions):
    expected, energy = forces_and_energy(context_of(SYSTEMS[name](), "Reference", positions))
    scale = np.sqrt((expected**2).mean())
    for _ in range(2):
        found, found_energy = forces_and_energy(context_of(SYSTEMS[name](), "OpenCL", positions, precision))
        # Meshes and tables of erfc differ between OpenMM's platforms.
        limit = 1e-3 if name in ("particle mesh", "Ewald") else 2e-5
        assert np.abs(found - expected).max() < limit * max(scale, np.abs(expected).max())
        assert abs(found_energy - energy) < limit * max(abs(energy), 100)


def test_steps_keep_the_energy(positions):
    context = context_of(SYSTEMS["bonded"](), "OpenCL", positions, "mixed")
    context.setVelocitiesToTemperature(100.0, 3)

    def energy():
        state = context.getState(getEnergy=True)
        return (state.getPotentialEnergy() + state.getKineticEnergy()).value_in_unit(unit.kilojoule_per_mole)

    before = energy()
    context.getIntegrator().step(100)
    assert abs(energy() - before) < 0.02 * abs(before)
