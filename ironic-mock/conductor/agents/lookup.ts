import { ironicErrors, type JsonObject } from '../../../base/wire/index.js'
import { fastTrackEnabled } from './fast-track.js'
import type { ConductorConf } from '../core/conductor-conf.js'
import { LOOKUP_STATES, LOOKUP_STATES_FAST_TRACK } from '../core/transitions.js'
import { HARDWARE_TYPES } from '../../drivers/hardware-types.js'
import type { NodeTask } from '../core/node-task.js'

/**
 * Answers an agent's lookup. The first lookup of a boot creates the token, and only its answer shows it (ironic
 * api/controllers/v1/ramdisk.py LookupController).
 *
 * @throws IronicError 404 in states where no agent is expected, 409 while the node is reserved and has no token yet
 */
export function answerLookup(task: NodeTask, token: string | null): void {
  const { node, conf } = task
  const allowed = fastTrackEnabled(node, conf) ? LOOKUP_STATES_FAST_TRACK : LOOKUP_STATES
  if (conf.restrictLookup && !allowed.includes(node.provision_state)) throw ironicErrors.resourceNotFound()
  // Only creating a token needs the lock: a later lookup in the middle of a step succeeds (recording agent-deploy-failures).
  if (token === null || task.info.agent_secret_token !== undefined) return
  if (node.reservation !== null) throw ironicErrors.nodeLocked(node.uuid, node.reservation)
  task.setInfo({ agent_secret_token: token })
}

/**
 * The `config` object of a lookup's answer, as recorded.
 *
 * @param token the token, `******` when an earlier answer showed it, null when the agent cannot take one
 */
export function agentConfig(conf: ConductorConf, driver: string, token: string | null): JsonObject {
  return {
    metrics: {
      backend: 'noop',
      prepend_host: false,
      prepend_uuid: false,
      prepend_host_reverse: true,
      global_prefix: null,
    },
    metrics_statsd: { statsd_host: 'localhost', statsd_port: 8125 },
    heartbeat_timeout: conf.heartbeatTimeout,
    agent_containers: {
      allow_arbitrary_containers: false,
      allowed_containers: [],
      container_steps_file: '/etc/ironic-python-agent.d/mysteps.yaml',
      runner: 'podman',
      pull_options: [],
      run_options: ['--rm', '--network=host'],
    },
    agent_token: token,
    agent_token_required: true,
    agent_md5_checksum_enable: conf.allowMd5Checksum,
    disable_deep_image_inspection: false,
    permitted_image_formats: ['raw', 'gpt', 'qcow2', 'iso'],
    // Hardware types that know the BMC address need no detection by the agent.
    agent_skip_bmc_detect: HARDWARE_TYPES.find(({ name }) => name === driver)?.bmc?.skipsDetection ?? false,
    enable_bios_bootloader_install: false,
    tls_min_version: '1.3',
    tls_cipher_suites: null,
  }
}
