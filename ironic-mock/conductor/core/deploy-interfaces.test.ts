import { describe, expect, test } from 'vitest'
import { ScriptedLab } from '../../../test/kit/conductor/scripted-lab.js'
import { CommandFailure, INSTALL_COREOS } from '../../../test/kit/conductor/scripted-machine.js'
import type { JsonObject } from '../../../base/wire/index.js'
import { detectDeployInterface } from '../flows/verify/autodetect-interface.js'
import { UPSTREAM_CONF, type ConductorConf } from './conductor-conf.js'

const IMAGE = { image_source: 'http://192.0.2.1/i.raw', image_os_hash_algo: 'sha256', image_os_hash_value: 'ab' }
const WRITE = { ...INSTALL_COREOS, step: 'write_image', argsinfo: undefined }
const BOOTC = { ...INSTALL_COREOS, step: 'execute_bootc_install', argsinfo: undefined }

async function available(fields: JsonObject = {}, conf: Partial<ConductorConf> = {}) {
  const lab = await ScriptedLab.open({ conf })
  const { uuid, machine } = await lab.enroll({ automated_clean: false, ...fields })
  machine.script.deploySteps = [WRITE, BOOTC]
  await lab.provision(uuid, 'manage', 'manageable')
  await lab.provision(uuid, 'provide', 'available')
  return { lab, uuid, machine, sent: () => machine.sent.map(({ name }) => name) }
}

const direct = (more: JsonObject = {}, conf: Partial<ConductorConf> = {}) =>
  available({ deploy_interface: 'direct', instance_info: IMAGE, ...more }, conf)

describe('direct', () => {
  test('the agent gets the commands of a real conductor, in its order', async () => {
    const { lab, uuid, machine, sent } = await direct()
    await lab.provision(uuid, 'active', 'active', { configdrive: 'H4sI' })
    expect(sent()).toEqual([
      'deploy.get_deploy_steps',
      'deploy.execute_deploy_step',
      'standby.get_partition_uuids',
      'image.install_bootloader',
      'standby.power_off',
    ])
    const image_info = {
      id: 'i.raw',
      urls: [IMAGE.image_source],
      disk_format: null,
      container_format: null,
      stream_raw_images: true,
      os_hash_algo: 'sha256',
      os_hash_value: 'ab',
      node_uuid: uuid,
      configdrive: 'H4sI',
    }
    expect(machine.sent[1]!.params).toMatchObject({
      step: { interface: 'deploy', step: 'write_image', args: { image_info, configdrive: 'H4sI' } },
      node: { deploy_step: { step: 'write_image', priority: 80, abortable: true, argsinfo: null } },
    })
    expect(Object.keys((machine.sent[1]!.params.step as { args: { image_info: object } }).args.image_info)).toEqual(
      Object.keys(image_info),
    )
    expect(machine.sent[3]!.params).toEqual({
      root_uuid: null,
      efi_system_part_uuid: null,
      prep_boot_part_uuid: null,
      target_boot_mode: 'uefi',
    })
    expect(machine.boots).toEqual(['ramdisk', 'disk'])
  })

  test('the node passes the states of a real deployment, with its steps', async () => {
    const { lab, uuid } = await direct()
    const { driver_internal_info: info } = await lab.provision(uuid, 'active', 'wait call-back')
    expect((info.deploy_steps as JsonObject[]).map(({ step, priority }) => [step, priority])).toEqual([
      ['deploy', 100],
      ['write_image', 80],
      ['prepare_instance_boot', 60],
      ['tear_down_agent', 40],
      ['switch_to_tenant_network', 30],
      ['boot_instance', 20],
    ])
    await lab.until(uuid, 'active')
    expect(lab.states(uuid).slice(-6)).toEqual([
      'deploying',
      'wait call-back',
      'deploying',
      'wait call-back',
      'deploying',
      'active',
    ])
  })

  test('a machine with BIOS gets no boot-loader command', async () => {
    const { lab, uuid, sent } = await direct({ properties: { capabilities: 'boot_mode:bios' } })
    await lab.provision(uuid, 'active', 'active')
    expect(sent()).not.toContain('image.install_bootloader')
  })

  test('image_info has the proxy, and a checksum without an algorithm', async () => {
    const { lab, uuid, machine } = await direct({
      driver_info: { redfish_address: 'http://bmc-525400000001', image_http_proxy: 'http://p', image_no_proxy: 'x' },
      instance_info: { image_source: IMAGE.image_source, image_checksum: 'cd', image_disk_format: 'raw' },
    })
    await lab.provision(uuid, 'active', 'active')
    const { args } = machine.sent[1]!.params.step as { args: { image_info: JsonObject; configdrive: null } }
    expect(args).toMatchObject({
      image_info: { disk_format: 'raw', checksum: 'cd', proxies: { http: 'http://p' }, no_proxy: 'x' },
      configdrive: null,
    })
    expect(args.image_info).not.toHaveProperty('configdrive')
  })

  test('with image_download_source local the agent fetches the image from its own URL', async () => {
    const instance_info = { ...IMAGE, image_download_source: 'local', image_type: 'odd' }
    const { lab, uuid, machine } = await direct({ instance_info })
    expect((await lab.conductor.validate(uuid)).deploy).toEqual({ result: true })
    expect((await lab.provision(uuid, 'active', 'active')).instance_info).toMatchObject({ image_type: 'whole-disk' })
    expect(machine.sent[1]!.params.step).toMatchObject({ args: { image_info: { urls: [IMAGE.image_source] } } })
  })

  test('a partition image without a size is refused', async () => {
    const { lab, uuid, machine } = await direct({ instance_info: { ...IMAGE, image_type: 'partition' } })
    expect(await lab.provision(uuid, 'active', 'deploy failed')).toMatchObject({
      last_error:
        "Failed to prepare to deploy: Some parameters were missing in node's instance_info. Missing are: ['root_gb']",
    })
    await lab.conductor.updateNode(uuid, (node) => ({ instance_info: { ...node.instance_info, root_gb: '10' } }))
    await lab.provision(uuid, 'active', 'active')
    const { args } = machine.sent[1]!.params.step as { args: { image_info: JsonObject } }
    expect(args.image_info).toMatchObject({
      image_type: 'partition',
      root_gb: '10',
      root_mb: 10240,
      swap_mb: 0,
      ephemeral_mb: 0,
      deploy_boot_mode: 'uefi',
      boot_option: 'local',
    })
  })

  test('a boot loader that cannot be installed: the agent’s words, logs, and the machine is switched off', async () => {
    const { lab, uuid, machine, sent } = await direct()
    const answer = machine.dispatch
    machine.dispatch = async (request) => {
      const response = await answer(request)
      const last = machine.commands.at(-1)
      if (last?.command_name === 'install_bootloader')
        Object.assign(last, { command_status: 'FAILED', command_error: { details: 'no EFI here' } })
      return response
    }
    expect(await lab.provision(uuid, 'active', 'deploy failed')).toMatchObject({
      last_error: `Deploy step deploy.prepare_instance_boot failed: Failed to install a bootloader when deploying node ${uuid}: no EFI here`,
      power_state: 'power off',
      deploy_step: {},
      maintenance: false,
    })
    expect(sent().at(-1)).toBe('log.collect_system_logs')
  })

  test('a failed command leaves the agent running, and the next attempt starts from the first step', async () => {
    const { lab, uuid, machine } = await direct()
    machine.script.run = () => {
      throw new CommandFailure('checksums differ', 'ImageChecksumError')
    }
    expect(await lab.provision(uuid, 'active', 'deploy failed')).toMatchObject({
      last_error: `Deploy step deploy.write_image failed on node ${uuid}. checksums differ`,
      power_state: 'power on',
      instance_info: { image_type: 'whole-disk', image_url: IMAGE.image_source },
    })
    machine.script.run = () => null
    expect(await lab.provision(uuid, 'active', 'active')).toMatchObject({ last_error: null })
  })

  test('on fake-hardware the disk is booted, although upstream’s fake management refuses', async () => {
    const { lab, uuid, machine } = await direct(
      { driver: 'fake-hardware', driver_info: { machine: 'http://bmc-525400000001' } },
      { fakeHardwareMachines: true },
    )
    await lab.provision(uuid, 'active', 'active')
    expect(machine.source).toEqual({ kind: 'disk' })
  })
})

test('bootc sends the container URL to the agent', async () => {
  const instance_info = { image_source: 'oci://quay.io/x/y:z', image_pull_secret: 'secret' }
  const { lab, uuid, machine, sent } = await available({ deploy_interface: 'bootc', instance_info })
  await lab.provision(uuid, 'active', 'active', { configdrive: 'H4sI' })
  expect(sent()).toEqual(['deploy.get_deploy_steps', 'deploy.execute_deploy_step', 'standby.power_off'])
  expect(machine.sent[1]!.params.step).toEqual({
    interface: 'deploy',
    step: 'execute_bootc_install',
    args: {
      image_source: instance_info.image_source,
      configdrive: 'H4sI',
      oci_pull_secret: Buffer.from('secret').toString('base64'),
    },
  })
})

test.each([
  ['words', 'Scheme-less image href is not a UUID.'],
  ['glance://image', 'there is no image service (Glance) here'],
])('an image source that is no URL is refused with 400: %s', async (image_source, reason) => {
  const { lab, uuid } = await direct({ instance_info: { ...IMAGE, image_source } })
  await expect(lab.conductor.provision(uuid, { target: 'active' })).rejects.toMatchObject({
    status: 400,
    message: `Validation of image href ${image_source} failed, reason: ${reason}`,
  })
})

test('a refused deployment stores the type of its image', async () => {
  const { lab, uuid } = await available({
    deploy_interface: 'direct',
    instance_info: { image_source: IMAGE.image_source },
  })
  await expect(lab.conductor.provision(uuid, { target: 'active' })).rejects.toMatchObject({ status: 400 })
  expect(await lab.node(uuid)).toMatchObject({
    provision_state: 'available',
    reservation: null,
    instance_info: { image_type: 'whole-disk' },
    driver_internal_info: { is_whole_disk_image: true },
  })
})

test('a deployment without steps fails', async () => {
  const { lab, uuid } = await available({ driver: 'fake-hardware', deploy_interface: 'fake' })
  const deploy_steps = [{ interface: 'deploy', step: 'deploy', args: {}, priority: 0 }]
  expect(await lab.provision(uuid, 'active', 'deploy failed', { deploy_steps })).toMatchObject({
    last_error: 'No deploy steps returned by the driver',
  })
})

test('a step priority may be a string of digits', async () => {
  const { lab, uuid, machine } = await available({ deploy_interface: 'custom-agent' })
  machine.script.deploySteps = [INSTALL_COREOS]
  const deploy_steps = [{ interface: 'deploy', step: 'install_coreos', args: {}, priority: '80' }]
  await lab.provision(uuid, 'active', 'active', { deploy_steps })
  expect(machine.sent[1]).toMatchObject({ params: { step: { step: 'install_coreos' } } })
})

test('noop deploys without commands to the agent', async () => {
  const lab = await ScriptedLab.open()
  const { uuid } = await lab.enroll({
    driver: 'manual-management',
    deploy_interface: 'noop',
    automated_clean: false,
    power_interface: 'fake',
    management_interface: 'fake',
  })
  await lab.provision(uuid, 'manage', 'manageable')
  await lab.provision(uuid, 'provide', 'available')
  expect(await lab.provision(uuid, 'active', 'active')).toMatchObject({ last_error: null })
})

const oci = { image_source: 'oci://quay.io/x/y' }
test.each<[string, JsonObject, string, boolean, boolean?]>([
  ['bootc for a container that can be booted', oci, 'bootc', true, true],
  ['direct for a container whose registry says something else', oci, 'direct', true],
  ['ramdisk for an ISO with ironic_ramdisk_deploy', { boot_iso: 'i', ironic_ramdisk_deploy: true }, 'ramdisk', true],
  [
    'ramdisk for a kernel and ramdisk with ironic_ramdisk_deploy',
    { kernel: 'k', ramdisk: 'r', ironic_ramdisk_deploy: true },
    'ramdisk',
    true,
  ],
  ['direct for an ISO without ironic_ramdisk_deploy', { boot_iso: 'i' }, 'direct', true],
  ['direct for an image', IMAGE, 'direct', true],
  ['direct for an empty instance_info', {}, 'direct', true],
])('autodetect chooses %s', (_, instance_info, name, supported, imageIsBootc = false) => {
  expect(detectDeployInterface({ instance_info }, UPSTREAM_CONF, imageIsBootc)).toEqual({ name, supported })
})

test('autodetect takes the last interface when none fits, and warns', async () => {
  const fields = { deploy_interface: 'autodetect', instance_info: IMAGE }
  const { lab, uuid } = await available(fields, { autodetectDeployInterfaces: ['ramdisk', 'bootc'] })
  await expect(lab.conductor.provision(uuid, { target: 'active' })).rejects.toMatchObject({
    message: expect.stringContaining('Invalid image href http://192.0.2.1/i.raw.') as string,
  })
  expect(
    detectDeployInterface({ instance_info: IMAGE }, { autodetectDeployInterfaces: ['ramdisk', 'bootc'] }, false),
  ).toEqual({
    name: 'bootc',
    supported: false,
  })
})

describe('a node with power off disabled', () => {
  test('is rebooted into the ramdisk and out of it, and its agent is locked down', async () => {
    const { lab, uuid, machine, sent } = await available({ disable_power_off: true, deploy_interface: 'custom-agent' })
    await lab.clock.until(lab.conductor.changePower(uuid, 'power on'))
    await lab.until(uuid, (node) => node.power_state === 'power on' && node.reservation === null)
    let off = 0
    const setPower = machine.setPower.bind(machine)
    machine.setPower = (target) => {
      if (target.includes('off')) off++
      return setPower(target)
    }
    await lab.provision(uuid, 'active', 'active')
    expect(sent()).toEqual(['deploy.get_deploy_steps', 'system.lockdown'])
    expect(machine.boots.slice(-2)).toEqual(['ramdisk', 'disk'])
    await lab.provision(uuid, 'deleted', 'available')
    expect(off).toBe(0)
  })

  test('without a BMC it is rebooted by its agent, which an operator started', async () => {
    const { lab, uuid, machine, sent } = await available({
      driver: 'manual-management',
      power_interface: 'agent',
      disable_power_off: true,
      driver_info: {},
      deploy_interface: 'custom-agent',
    })
    await lab.provision(uuid, 'active', 'wait call-back')
    expect(sent()).toEqual([])
    await machine.setBoot({ kind: 'ramdisk', parameters: {} })
    await machine.setPower('power on')
    const node = await lab.until(uuid, 'active')
    expect(sent()).toEqual(['deploy.get_deploy_steps', 'standby.sync', 'standby.run_image'])
    expect(node).toMatchObject({ power_state: 'power on', last_error: null })
    expect(node.driver_internal_info.agent_url).toBeUndefined()
  })

  test('a ramdisk that the BMC powers off syncs its disks first', async () => {
    const driver_info = { redfish_address: 'http://bmc-525400000001', deploy_forces_oob_reboot: 'true' }
    const { lab, uuid, sent } = await available({ deploy_interface: 'custom-agent', driver_info })
    await lab.provision(uuid, 'active', 'active')
    expect(sent()).toEqual(['deploy.get_deploy_steps', 'standby.sync'])
  })

  test('logs are collected after every deployment with deploy_logs_collect always', async () => {
    const { lab, uuid, sent } = await available({ deploy_interface: 'custom-agent' }, { deployLogsCollect: 'always' })
    await lab.provision(uuid, 'active', 'active')
    expect(sent()).toEqual(['deploy.get_deploy_steps', 'log.collect_system_logs', 'standby.power_off'])
  })
})
