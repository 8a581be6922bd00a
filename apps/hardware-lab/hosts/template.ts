/** A file of hosts to begin with. */
export const HOSTS_TEMPLATE = `# yaml-language-server: $schema=hosts.schema.json
# Machines of a lab, for: ironstage run hosts.yaml --plan
# docs/hardware-lab.md explains every key.

run:
  parallel: 4            # hosts at a time
  # max-failures: 2      # start no further host after so many failures
  # canary: worker-1     # this host first, alone

# Settings of every host that does not have its own.
defaults:
  bmc:
    username: {env: BMC_USER}
    password: {env: BMC_PASSWORD}    # or {file: PATH}, or {command: [pass, show, bmc]}
  live:
    iso: https://images.example.org/live.iso
    # http: https://images.example.org/live.iso   # UEFI HTTP boot
    # pxe: true                                   # the network boots it
    # booted: true                                # it runs already
  ssh:
    user: core
    # key: ~/.ssh/id_ed25519
  verify-boot: true
  # stages:
  #   ssh: {time: 15m, retries: 1}

hosts:
  worker-1:
    labels: [rack-a]
    bmc:
      redfish: https://192.0.2.11
      # certificate: sha256:...      # fingerprint of its certificate
    macs: ["52:54:00:00:00:01"]
    ssh:
      address: 192.0.2.21
      # host-keys: [SHA256:..., installed=SHA256:...]
    disk:
      serial: S0000001               # the only disk that is ever written
    # ignition: worker.ign           # or {template: worker.ign.tmpl}, {butane: worker.bu}
    # append-kargs: [console=ttyS0]
    # expect: {serial: ABC123, memory: 16GiB, disk-size: 100GB}
    # post-checks:
    #   - command: systemctl is-system-running --wait
    #     output: running
`
