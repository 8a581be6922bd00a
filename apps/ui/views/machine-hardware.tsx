import type { MachineReport } from '../../../control/index.js'
import { runWithNotice } from '../parts/notices.js'
import { Mark } from '../parts/shapes.js'
import { makeLabClient } from '../state/page-connection.js'
import { bytesText } from '../state/disk-layout.js'
import { lookOf } from '../state/looks.js'

/** Power and boot of a machine, and the button that changes them. */
export function MachinePower({ machine, state }: { machine: MachineReport; state: string | null }) {
  const { id, power, boot, lastBoot, bmc, os } = machine
  const shown = boot ?? lastBoot
  const press = (wanted: 'on' | 'off' | 'reboot') => () =>
    void runWithNotice(async () => void (await makeLabClient().powerOfMachine(id, { power: wanted })))
  return (
    <section class="node-head" aria-label="Machine">
      <h1>
        <Mark look={lookOf(power)} /> {id}
      </h1>
      <p class="node-state">
        <strong>power {power}</strong>
        {shown && (
          <>
            {' '}
            {boot ? '' : 'after '}boot: <strong>{shown.outcome}</strong> from {shown.from}
          </>
        )}
        {state !== null && <span class="tag">{state}</span>}
      </p>
      {shown?.failure && <p class="error-text">{shown.failure}</p>}
      <p class="facts quiet">
        {bmc && <span>BMC {bmc.address}</span>}
        {os && <span>system {os.booted.version}</span>}
        {machine.waitsFor && <span class="error-text">{machine.waitsFor}</span>}
      </p>
      <div class="tools" role="group" aria-label="Power">
        <button disabled={power === 'on'} onClick={press('on')}>
          Power on
        </button>
        <button disabled={power === 'off'} onClick={press('off')}>
          Power off
        </button>
        <button disabled={power === 'off'} onClick={press('reboot')}>
          Reboot
        </button>
      </div>
    </section>
  )
}

/** Hardware, firmware and NICs. */
export function MachineHardware({ machine }: { machine: MachineReport }) {
  const { hardware, firmware, nics } = machine
  return (
    <section class="panel" aria-label="Hardware">
      <h2>Hardware</h2>
      <dl class="terms">
        <dt>Product</dt>
        <dd>
          {hardware.manufacturer} {hardware.product}, serial {hardware.serial}
        </dd>
        <dt>Processors</dt>
        <dd>
          {hardware.cpus} × {hardware.architecture}, {bytesText(hardware.memoryMib * 2 ** 20)}
        </dd>
        <dt>Firmware</dt>
        <dd>
          {firmware.bootMode}
          {firmware.secureBoot && ', Secure Boot'}, health {firmware.health};{' '}
          {firmware.versions.map(({ component, version }) => `${component} ${version}`).join(', ')}
        </dd>
        <dt>Boot order</dt>
        <dd>
          {firmware.override && (
            <p>
              First {firmware.override.target} ({firmware.override.enabled.toLowerCase()}), as the BMC was asked.
            </p>
          )}
          {firmware.bootOrder.map(({ reference, target, device }) => `${target} ${device ?? reference}`).join(' → ')}
        </dd>
      </dl>
      <div class="exchange-box" tabIndex={0} role="region" aria-label="NICs">
        <table>
          <thead>
            <tr>
              <th scope="col">NIC</th>
              <th scope="col">MAC</th>
              <th scope="col">IPv4</th>
              <th scope="col">Cable</th>
              <th scope="col">Boots</th>
            </tr>
          </thead>
          <tbody>
            {nics.map(({ name, mac, ipv4, carrier, pxe }) => (
              <tr key={name}>
                <td>{name}</td>
                <td class="mono">{mac}</td>
                <td class="mono">{ipv4 ?? 'none'}</td>
                <td class={carrier ? '' : 'error-text'}>{carrier ? 'plugged in' : 'no cable'}</td>
                <td>{pxe ? 'network boot' : ''}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}
