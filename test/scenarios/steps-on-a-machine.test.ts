import { describe, expect, test } from 'vitest'
import { defined } from '../../base/runtime/index.js'
import {
  containerHardwareManager,
  coreosHardwareManager,
  genericHardwareManager,
  readPartitions,
  type Step,
} from '../../steps/index.js'
import { stepMachine, testDisk } from '../kit/step-machine.js'

const step = (name: string): Step =>
  [genericHardwareManager, coreosHardwareManager, containerHardwareManager]
    .flatMap(({ steps }) => steps)
    .find((candidate) => candidate.name === name)!

describe('erasing', () => {
  const knobs = (driver_internal_info: object) => ({ driver_internal_info })
  async function used(...disks: Parameters<typeof testDisk>[]) {
    const lab = await stepMachine(disks.map((disk) => testDisk(...disk)))
    for (const [name] of disks) {
      await lab.say(`sgdisk --new=1:2048:+100M /dev/${name}`)
      await lab.say(`dd of=/dev/${name} bs=1M seek=500 status=none`, Buffer.from('secret'))
    }
    const secret = (name: string) => lab.say(`dd if=/dev/${name} bs=1M skip=500 count=1 status=none`)
    return { ...lab, secret, holdsSecret: async (name: string) => (await secret(name)).startsWith('secret') }
  }

  test('erase_devices_metadata leaves no partition table', async () => {
    await using lab = await used(['sda', 1], ['sdb', 1, { sectorSize: 4096 }])
    await lab.run(step('erase_devices_metadata'))
    for (const disk of ['/dev/sda', '/dev/sdb'])
      expect(await readPartitions(lab.machine.target, disk)).toEqual({ type: null, partitions: [] })
    expect(await lab.say('wipefs /dev/sda')).toBe('')
    expect(await lab.holdsSecret('sda')).toBe(true)
  })

  test('disks that can erase themselves do, all others are overwritten', async () => {
    await using lab = await used(['sda', 1, { secureErase: true }], ['sdb', 1], ['nvme0n1', 1, { transport: 'nvme' }])
    expect(await lab.run(step('erase_devices'))).toEqual({
      '/dev/sda': 'erased itself (ATA enhanced secure erase)',
      '/dev/sdb': 'overwritten once with random data, then with zeros',
      '/dev/nvme0n1': 'erased itself (NVMe format, cryptographic)',
    })
    for (const name of ['sda', 'sdb', 'nvme0n1']) expect(await lab.holdsSecret(name), name).toBe(false)
  })

  test('they are overwritten where the node forbids it', async () => {
    await using lab = await used(['sda', 1, { secureErase: true }], ['nvme0n1', 1, { transport: 'nvme' }])
    const node = knobs({ agent_enable_ata_secure_erase: false, agent_enable_nvme_secure_erase: false })
    expect(Object.values((await lab.run(step('erase_devices'), {}, node)) as object)).toEqual([
      'overwritten once with random data, then with zeros',
      'overwritten once with random data, then with zeros',
    ])
  })

  test('a disk whose firmware has frozen it fails the step, unless the node says to go on', async () => {
    await using lab = await used(['sda', 1, { secureErase: 'frozen' }])
    await expect(lab.run(step('erase_devices'))).rejects.toMatchObject({
      type: 'BlockDeviceEraseError',
      details: expect.stringContaining('frozen'),
    })
    expect(await lab.holdsSecret('sda')).toBe(true)
    await lab.run(step('erase_devices'), {}, knobs({ agent_continue_if_secure_erase_failed: true }))
    expect(await lab.holdsSecret('sda')).toBe(false)
  })

  test('erase_devices_express erases NVMe disks and the metadata of others', async () => {
    await using lab = await used(['sda', 1], ['nvme0n1', 1, { transport: 'nvme' }])
    expect(await lab.run(step('erase_devices_express'))).toEqual({
      '/dev/sda': 'metadata destroyed',
      '/dev/nvme0n1': 'erased itself (NVMe format, cryptographic)',
    })
    expect(await lab.holdsSecret('sda')).toBe(true)
    expect(await lab.holdsSecret('nvme0n1')).toBe(false)
    expect((await readPartitions(lab.machine.target, '/dev/sda')).type).toBeNull()
  })
})

describe('firmware', () => {
  test('erase_pstore deletes the records of crashed kernels', async () => {
    await using lab = await stepMachine([testDisk('sda', 1)])
    expect(await lab.run(step('erase_pstore'))).toBeNull()
    await lab.write('/sys/fs/pstore/dmesg-efi-1', 'panic')
    await lab.run(step('erase_pstore'))
    expect(await lab.machine.executor.files.list('/sys/fs/pstore')).toEqual([])
  })

  test.each([
    [undefined, ['PXE']],
    [['^PciRoot', 'nothing'], ['Fedora']],
    ['["fedora"]', ['PXE']],
    [[], ['Fedora', 'PXE']],
  ])('clean_uefi_nvram with %j leaves %j', async (match_patterns, left) => {
    await using lab = await stepMachine([testDisk('sda', 1)])
    await lab.say('sgdisk --new=1:2048:+100M --typecode=1:ef00 /dev/sda')
    await lab.say('efibootmgr -c -d /dev/sda -p 1 -L Fedora -l \\EFI\\fedora\\shimx64.efi')
    const target = lab.machine.target
    const { executor } = target
    // The firmware's own entry, which no tool of the machine can make.
    const listing = await lab.say('efibootmgr -v')
    const withPxe = `${listing}Boot0009* PXE\tPciRoot(0x0)/Pci(0x2,0x0)/MAC(525400000002,0)\n`
    const deleted: string[] = []
    const watched = {
      name: target.name,
      disks: target.disks,
      clock: target.clock,
      hostPath: (path: string) => path,
      has: () => true,
      executor: {
        files: executor.files,
        attach: () => Promise.reject(new Error('no')),
        start: async (command: Parameters<typeof executor.start>[0]) => {
          if (command.argv[1] === '-b') deleted.push(command.argv[2]!)
          const run = await executor.start({ ...command, argv: command.argv[1] === '-b' ? ['true'] : command.argv })
          if (command.argv[1] !== '-v') return run
          const output = (async function* () {
            yield await Promise.resolve({ stream: 'stdout' as const, bytes: Buffer.from(withPxe) })
          })()
          return { ...run, output }
        },
      },
    }
    await lab.run(
      step('clean_uefi_nvram'),
      defined({ match_patterns: match_patterns || undefined }),
      {},
      { target: watched },
    )
    const entries = [...withPxe.matchAll(/^Boot([\dA-F]{4})\* (\w+)/gm)]
    expect(entries.filter(([, number]) => !deleted.includes(number!)).map(([, , label]) => label)).toEqual(left)
  })

  test('clean_uefi_nvram really deletes, and refuses what is no pattern before it does', async () => {
    await using lab = await stepMachine([testDisk('sda', 1)])
    await lab.say('sgdisk --new=1:2048:+100M /dev/sda')
    await lab.say('efibootmgr -c -d /dev/sda -p 1 -L Fedora -l \\EFI\\fedora\\shimx64.efi')
    for (const match_patterns of [['('], 'x', '{}'])
      await expect(lab.run(step('clean_uefi_nvram'), { match_patterns })).rejects.toThrow('match_patterns')
    expect(await lab.say('efibootmgr')).toContain('Fedora')
    await lab.run(step('clean_uefi_nvram'))
    expect(await lab.say('efibootmgr')).not.toContain('Fedora')
  })
})

describe('burn-in takes time', () => {
  const hours = 3600_000
  test.each([
    ['burnin_cpu', {}, 24 * hours],
    ['burnin_cpu', { agent_burnin_cpu_timeout: 3600, agent_burnin_cpu_cpu: 2 }, hours],
    ['burnin_memory', { agent_burnin_vm_timeout: '7200', 'agent_burnin_vm_vm-bytes': '50%' }, 2 * hours],
    ['burnin_disk', { agent_burnin_fio_disk_runtime: 600 }, 600_000],
    ['burnin_disk', {}, 240_000],
    [
      'burnin_network',
      {
        agent_burnin_fio_network_runtime: 60,
        agent_burnin_fio_network_config: { role: 'writer', partner: '192.0.2.9' },
      },
      // The node writes and then reads, and no peer writes to it: the simulated fio gives up after a minute.
      120_000,
    ],
  ])('%s with %j', async (name, driver_info, ms) => {
    await using lab = await stepMachine([testDisk('sda', 1)])
    const before = lab.clock.elapsed()
    expect(await lab.run(step(name), {}, { driver_info })).toBeNull()
    expect(lab.clock.elapsed() - before).toBe(ms)
  })

  test('the report goes where the node wants it, and a disk holds nothing afterwards', async () => {
    await using lab = await stepMachine([testDisk('sda', 1)])
    await lab.say('sgdisk --new=1:2048:+100M /dev/sda')
    await lab.run(step('burnin_cpu'), {}, { driver_info: { agent_burnin_cpu_outputfile: '/var/log/burn-in.cpu' } })
    expect(await lab.read('/var/log/burn-in.cpu')).toMatch(/successful run completed/)
    await lab.run(step('burnin_disk'))
    expect((await readPartitions(lab.machine.target, '/dev/sda')).type).toBeNull()
  })

  test('an agent that stops does not wait for its end', async () => {
    await using lab = await stepMachine([testDisk('sda', 1)])
    const { signal, abort } = stopAfter()
    const running = lab.run(step('burnin_cpu'), {}, {}, { signal })
    setImmediate(abort)
    await expect(running).rejects.toThrow('the agent stops')
  })

  test.each([
    ['burnin_gpu', {}, /gpu-burn[^]*CUDA/],
    ['burnin_network', {}, /agent_burnin_fio_network_config/],
    ['burnin_cpu', { agent_burnin_cpu_timeout: '--help' }, /agent_burnin_cpu_timeout .* cannot be used/],
  ])('%s fails with %j', async (name, driver_info, sentence) => {
    await using lab = await stepMachine([testDisk('sda', 1)])
    const failure: unknown = await lab.run(step(name), {}, { driver_info }).catch((error: unknown) => error)
    const cause = failure instanceof Error && failure.cause instanceof Error ? failure.cause.message : ''
    expect(`${String(failure)} ${cause}`).toMatch(sentence)
  })
})

function stopAfter() {
  const controller = new AbortController()
  return { signal: controller.signal, abort: () => controller.abort(new Error('the agent stops')) }
}

describe('start_assisted_install', () => {
  const unit = (states: string) => `[Service]\nExecStart=/usr/local/bin/agent\n[X-Simulation]\nStates=${states}\n`

  test('waits for as long as the unit is at work, looking every 15 seconds', async () => {
    await using lab = await stepMachine([testDisk('sda', 1)])
    await lab.write('/etc/systemd/system/agent.service', unit('activating:20 active:50 inactive'))
    const before = lab.clock.elapsed()
    expect(await lab.run(step('start_assisted_install'))).toBeNull()
    expect(lab.clock.elapsed() - before).toBe(76_000)
  })

  test('fails with the unit, in the words of the shipped step', async () => {
    await using lab = await stepMachine([testDisk('sda', 1)])
    await lab.write('/etc/systemd/system/agent.service', unit('activating:5 failed:exit-code'))
    await expect(lab.run(step('start_assisted_install'))).rejects.toMatchObject({
      type: 'DeploymentError',
      details: 'Assisted Installer Agent has failed with result "exit-code". Check the ramdisk logs for more details.',
    })
  })

  test('fails where there is no such unit', async () => {
    await using lab = await stepMachine([testDisk('sda', 1)])
    await expect(lab.run(step('start_assisted_install'))).rejects.toThrow(/systemctl start/)
  })
})

describe('containers', () => {
  test.each(['generic_container_step', 'container_clean_step'])('%s pulls and runs an image', async (name) => {
    await using lab = await stepMachine([testDisk('sda', 1)])
    await lab.write('/etc/containers/simulated-images', 'quay.io/x/tool:1 0 done\nquay.io/x/bad:1 3\n')
    const args = { container_url: 'quay.io/x/tool:1', run_options: '--rm --privileged' }
    expect(await lab.run(step(name), args)).toBeNull()
    expect(await lab.say('podman images')).toBe('quay.io/x/tool:1\n')
    expect(await lab.say('podman ps')).toBe('--rm --privileged quay.io/x/tool:1\n')
    await expect(lab.run(step(name), { container_url: 'quay.io/x/bad:1' })).rejects.toThrow(/exit code 3/)
    await expect(lab.run(step(name), { container_url: 'quay.io/y' })).rejects.toThrow(/podman pull .* exit code 125/)
    await expect(lab.run(step(name), {})).rejects.toThrow('container_url (Container image URL)')
  })
})
