#!/bin/sh
# Issues one licence key for an order in a CI job, once, however often the job runs again.
#
#   LKM_BASE_URL=https://licensing.example.com LKM_TOKEN=… LKM_PRODUCT=prod_… ci-issue-key.sh ORDER
#
# The idempotency key is made from the order, not from time or chance: a job that is run again gets the same licence
# key again. Exit 8 means that the outcome is not known: run the job again.
set -eu

order=$1
lkm keys create --max-activations 3 --expires 1y --idempotency-key "order-$order"
