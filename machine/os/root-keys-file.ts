/** From which systemd-tmpfiles makes root's authorized_keys (bootc, install/osconfig.rs). */
export const ROOT_KEYS_FILE = '/etc/tmpfiles.d/bootc-root-ssh.conf'
