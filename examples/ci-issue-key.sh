#!/bin/sh
# Issues one licence key for an order in a CI job, once, however often the job runs again.
#
#   LKM_BASE_URL=https://licensing.example.com LKM_TOKEN=… LKM_PRODUCT=prod_… ci-issue-key.sh ORDER EXPIRES
#
# The idempotency key and the date are the order's, not made from time or chance: a job that is run again asks the same
# again, and gets the same licence key. Exit 8 means that the outcome is not known: run the job again.
set -eu

order=$1 expires=$2
lkm keys create --max-activations 3 --expires "$expires" --idempotency-key "order-$order"
