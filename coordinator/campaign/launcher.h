/* The key `launcher` of a campaign file:
 *
 *     launcher: {kind: local, agents: 2}
 *     launcher: {kind: ssh, hosts: [node1, {host: node2, agents: 2, device: gpu}], bundle: thresh-bundle}
 *     launcher: {kind: slurm, agents: 4, partition: gpu, time: 2h, options: [--gres=gpu:1]}
 *
 * Its keys are the settings of coordinator/launch/options.h, and `hosts`, `hostfile`, `options` where
 * --launch has other forms. `{kind: local}` without agents is the default: they run in the coordinator's
 * process. */
#ifndef THRESH_CAMPAIGN_LAUNCHER_H
#define THRESH_CAMPAIGN_LAUNCHER_H

#include "coordinator/campaign/keys.h"

/* Reads the key into r->campaign. false after errors. */
bool campaign_read_launcher(struct campaign_reader *r, struct campaign_node n);
/* What only shows when the whole campaign is read: agents elsewhere need `listen`. false after an error. */
bool campaign_check_launcher(struct campaign_reader *r);

#endif
