/* static_udev.c - the five calls of libudev that an archive of hwloc may need, all returning "not
 * available". Compiled only into the relocatable folder (ASSAY_STATIC_DEPS), because there is no
 * archive of libudev: systemd builds none. hwloc uses it only for the vendor and model of disks and
 * network cards, which the topology filters out, and continues without it if udev_new returns
 * NULL. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

struct udev;
struct udev_device;

struct udev *udev_new(void)
{
    return 0;
}

struct udev *udev_unref(struct udev *udev)
{
    (void)udev;
    return 0;
}

struct udev_device *udev_device_new_from_subsystem_sysname(struct udev *udev, const char *subsystem,
                                                           const char *name)
{
    (void)udev, (void)subsystem, (void)name;
    return 0;
}

const char *udev_device_get_property_value(struct udev_device *device, const char *key)
{
    (void)device, (void)key;
    return 0;
}

struct udev_device *udev_device_unref(struct udev_device *device)
{
    (void)device;
    return 0;
}
