#!/usr/bin/env bash
# A managed node group of EKS and a plain Auto Scaling group, in a lab that runs (bin/tenon-lab up):
#
#   examples/node-group.sh [DIR of the lab, .lab by default]
#
# It needs the AWS CLI. Everything that it asks is asked of the lab's emulated AWS.
set -euo pipefail
dir=${1:-.lab}
set -a
. "$dir/lab.env"
set +a
export AWS_PAGER="" AWS_DEFAULT_OUTPUT=text

cluster=$(aws eks list-clusters --query 'clusters[0]')
subnets=$(aws ec2 describe-subnets --filters "Name=tag:karpenter.sh/discovery,Values=$cluster" --query 'Subnets[].SubnetId')
role=$(aws eks list-access-entries --cluster-name "$cluster" --query 'accessEntries[0]')

# A managed node group: EKS makes the Auto Scaling group, the launch template and the user data.
# shellcheck disable=SC2086 # one argument for each subnet
aws eks create-nodegroup --cluster-name "$cluster" --nodegroup-name workers --node-role "$role" --subnets $subnets \
    --instance-types m5.large m5a.large --scaling-config minSize=0,maxSize=10,desiredSize=2 \
    --labels team=a --taints key=dedicated,value=a,effect=PREFER_NO_SCHEDULE --query nodegroup.status
group=$(aws eks describe-nodegroup --cluster-name "$cluster" --nodegroup-name workers --query 'nodegroup.resources.autoScalingGroups[0].name')

# A plain group from the same launch template, empty, as Cluster Autoscaler would find it: by its tags.
template=$(aws autoscaling describe-auto-scaling-groups --auto-scaling-group-names "$group" \
    --query 'AutoScalingGroups[0].MixedInstancesPolicy.LaunchTemplate.LaunchTemplateSpecification.LaunchTemplateId')
aws autoscaling create-auto-scaling-group --auto-scaling-group-name plain --min-size 0 --max-size 5 --desired-capacity 0 \
    --vpc-zone-identifier "${subnets//[[:space:]]/,}" \
    --mixed-instances-policy "{\"LaunchTemplate\":{\"LaunchTemplateSpecification\":{\"LaunchTemplateId\":\"$template\"},\"Overrides\":[{\"InstanceType\":\"c5.large\"}]}}" \
    --tags "Key=k8s.io/cluster-autoscaler/enabled,Value=true,PropagateAtLaunch=false" \
    "Key=k8s.io/cluster-autoscaler/$cluster,Value=owned,PropagateAtLaunch=false"

aws autoscaling describe-auto-scaling-groups --query 'AutoScalingGroups[].[AutoScalingGroupName,MinSize,DesiredCapacity,MaxSize]'
echo "Next, for instance:"
echo "  aws autoscaling set-desired-capacity --auto-scaling-group-name plain --desired-capacity 2"
echo "  kubectl get nodes -L eks.amazonaws.com/nodegroup,topology.kubernetes.io/zone"
